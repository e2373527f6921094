/* SPDX-License-Identifier: Apache-2.0 */
/* Every event of Kunminghu and many combinations, each counted by a guest of a world
 * (tests/host/world.h) whose harts combine events. */
#include "tests/host/test_vpmu_model.h"

#include "tests/host/combining_events.h"
#include "tests/host/csr_read.h"
#include "tests/host/random_guest.h"

#define COMBINATIONS 10000U
#define PARTS        4U
#define RAW_V2       ((uint32_t)SBI_PMU_TYPE_RAW_V2 << 16)

static struct machine machine;

static int begin(void **state)
{
	struct chance c = {1};

	(void)state;
	random_machine(&c, 0, &machine);
	for (uint32_t i = 0; i < VCPUS; i++) {
		machine.policy[i].hctrs = COMBINING_COUNTERS;
		machine.policy[i].events = NULL;
		machine.policy[i].overflow = true;
		machine.policy[i].count_hs = false;
	}
	world_reset(&machine);
	return 0;
}

static struct answer done(struct op op)
{
	struct answer answer = world_do(&op);

	assert_string_equal(world_difference(), "");
	return answer;
}

/* It is evicted, moves to the other hart, or goes on. */
static void interlude(struct chance *c)
{
	switch (below(c, 4)) {
	case 0:
		done((struct op){.kind = OP_MOVE, .a = {0}});
		break;
	case 1:
		done((struct op){.kind = OP_SWITCH, .a = {1}});
		done((struct op){.kind = OP_SWITCH, .a = {0}});
		break;
	default:
		break;
	}
}

/* Runs in parts. Returns how often it counted. */
static uint64_t run(struct chance *c, uint64_t selector, uint32_t flags)
{
	uint64_t amount = 0;

	for (uint32_t i = 0; i < PARTS; i++) {
		uint32_t mode = below(c, 2), work = below(c, COMBINING_PERIOD);
		uint64_t units = below(c, 200);

		done((struct op){.kind = OP_RUN, .a = {mode, work, units, ~0ULL}});
		if (!(flags &
		      (mode == FAKE_VU ? SBI_PMU_CFG_FLAG_SET_UINH : SBI_PMU_CFG_FLAG_SET_SINH)))
			amount += fake_hart_amount(RAW_V2, selector, work, units);
		interlude(c);
	}
	return amount;
}

/* Counts from soon before the wrap, or from anywhere. */
static void count(struct chance *c, uint64_t selector)
{
	static const uint32_t filters[] = {0, SBI_PMU_CFG_FLAG_SET_UINH, SBI_PMU_CFG_FLAG_SET_SINH};
	uint32_t flags = filters[below(c, 3)];
	uint64_t start = percent(c, 50) ? chance(c) : 0 - (uint64_t)below(c, 3000), amount, value;
	unsigned long lctr;
	struct answer answer = done((struct op){
	    .kind = OP_CONFIG,
	    .a = {0, combining_hctrs(selector), flags, RAW_V2, selector},
	});

	assert_int_equal(answer.ret.error, 0);
	lctr = answer.ret.value;
	done((struct op){.kind = OP_START, .a = {lctr, 1, SBI_PMU_START_SET_INIT_VALUE, start}});
	amount = run(c, selector, flags);
	done((struct op){.kind = OP_STOP, .a = {lctr, 1, 0}});
	assert_true(vpmu_csr_read(&world_vcpus[0].vpmu, 0xc00 + (uint32_t)lctr, &value));
	assert_int_equal(value, start + amount);
	assert_int_equal(vpmu_scountovf(&world_vcpus[0].vpmu) >> lctr & 1,
	                 start + amount < start && start > 3ULL << 62);
	done((struct op){.kind = OP_STOP, .a = {lctr, 1, SBI_PMU_STOP_FLAG_RESET}});
}

static void every_event(void **state)
{
	struct chance c = {2};

	(void)state;
	for (uint32_t n = 0; n < COMBINING_EVENTS; n++) {
		for (uint32_t i = 0; i < n; i++)
			assert_int_not_equal(combining_single(n), combining_single(i));
		count(&c, combining_single(n));
	}
}

static void combinations(void **state)
{
	struct chance c = {3};

	(void)state;
	for (uint32_t i = 0; i < COMBINATIONS; i++)
		count(&c, combining_any(&c));
}

int hart_test_group(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(every_event, begin),
	    cmocka_unit_test_setup(combinations, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
