/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters as boot tries them, on a hart that counts an event on several counters at a time: two of
 * them count VS and VU side by side, exactly. On a hart that mixes their filters up each event gets
 * one counter, as where an event is counted once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_exact.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/port.h"
#include "tests/host/opensbi_pmu.h"

#define EVENT    SBI_PMU_HW_INSTRUCTIONS
#define SELECTOR 2U
#define A        3U
#define B        4U
#define COUNTERS (BIT(A) | BIT(B))
#define LENGTH   32U

struct quirks quirks;

static const struct opensbi_event events[] = {{EVENT, COUNTERS, SELECTOR}};
static const struct opensbi_node node = {events, 1, NULL, 0};
static const struct combining_cycle cycle = {.times = {{[SELECTOR] = 1}}};
static struct hpm hpm;

/* What the hart does wrong. */
static enum { NOTHING, ONE_FILTER, ONE_COUNTER } defect;

/* --- what is not there ---------------------------------------------------------------- */

void hpm_failed(void)
{
}

void host_fence(void)
{
}

bool hpm_wait_for_lcofi(uint64_t patience)
{
	(void)patience;
	return false;
}

const char *hpm_probe_flag_starts(struct hpm *h, uint32_t hctr, uint64_t patience)
{
	(void)h;
	(void)hctr;
	(void)patience;
	return NULL;
}

bool hpm_fixed_take(struct hpm *h, uint32_t hctr, const struct hw_event *config)
{
	(void)h;
	(void)hctr;
	(void)config;
	return false;
}

void hpm_exact_check_vs(struct hpm *h, uint32_t hctr)
{
	(void)h;
	(void)hctr;
}

/* --- the hart ------------------------------------------------------------------------- */

/* What a guest executes. */
void vs_work(bool user, uint64_t passes)
{
	const uint64_t filters = MHPMEVENT_VSINH | MHPMEVENT_VUINH;
	uint64_t first = combining_event(A), second = combining_event(B);
	uint64_t inhibited = combining_inhibit();

	if (defect == ONE_FILTER && second & ~MHPMEVENT_OF)
		combining_write_event(A, (first & ~filters) | (second & filters));
	if (defect == ONE_COUNTER && !(inhibited & BIT(A)))
		combining_write_inhibit(inhibited | BIT(B));
	for (uint64_t i = 0; i < passes * LENGTH; i++)
		opensbi_step(user ? COMBINING_VU : COMBINING_VS, &cycle);
	combining_write_event(A, first);
	combining_write_inhibit(inhibited);
}

static int boot(void **state)
{
	(void)state;
	defect = NOTHING;
	opensbi_boot(&node, true);
	quirks = (struct quirks){.home_counters = false};
	hpm = (struct hpm){.hctrs = COUNTERS, .width = 64, .n_events = 1};
	hpm.events[0] = (struct hpm_event){.event_idx = EVENT, .hctrs = COUNTERS};
	return 0;
}

/* --- tests ---------------------------------------------------------------------------- */

/* As perf has them: -e instructions:k,instructions:u. */
static void test_side_by_side(void **state)
{
	(void)state;
	hpm_selfcheck(&hpm, 0);
	assert_null(hpm.events[0].fault);
	assert_true(hpm_selfcheck_filters(&hpm));
	assert_null(hpm_selfcheck_begin(&hpm, A, EVENT, HW_INH_VU));
	assert_null(hpm_selfcheck_begin(&hpm, B, EVENT, HW_INH_VS));
	uint64_t kernel = hpm_value(&hpm, A), user = hpm_value(&hpm, B);

	vs_work(false, 5);
	vs_work(true, 3);
	vs_work(false, 1);
	assert_int_equal(hpm_value(&hpm, A) - kernel, 6 * LENGTH);
	assert_int_equal(hpm_value(&hpm, B) - user, 3 * LENGTH);
}

/* It leaves both counters as it found them, with OF set. */
static void test_nothing_is_left(void **state)
{
	(void)state;
	assert_true(hpm_selfcheck_filters(&hpm));
	vs_work(false, 1);
	vs_work(true, 1);
	for (uint32_t hctr = A; hctr <= B; hctr++) {
		uint64_t before = hpm_value(&hpm, hctr);

		vs_work(false, 1);
		vs_work(true, 1);
		assert_int_equal(hpm_value(&hpm, hctr), before);
		assert_true(host_csrs[CSR_SCOUNTOVF] >> hctr & 1);
	}
}

/* Each alone filters as it should: the trial of one counter finds nothing. */
static void assert_found(int what)
{
	defect = what;
	hpm_selfcheck(&hpm, 0);
	assert_null(hpm.events[0].fault);
	assert_false(hpm_selfcheck_filters(&hpm));
}

static void test_filters_are_mixed_up(void **state)
{
	(void)state;
	assert_found(ONE_FILTER);
}

static void test_one_counts_at_a_time(void **state)
{
	(void)state;
	assert_found(ONE_COUNTER);
}

/* Nothing to be tried: one counter, an event that cannot be made to happen, one that is refused. */
static void test_not_tried(void **state)
{
	(void)state;
	defect = ONE_FILTER;
	hpm.events[0].hctrs = BIT(B);
	assert_true(hpm_selfcheck_filters(&hpm));
	hpm.events[0] = (struct hpm_event){.event_idx = 0x10019, .hctrs = COUNTERS};
	assert_true(hpm_selfcheck_filters(&hpm));
	hpm.events[0] = (struct hpm_event){.event_idx = EVENT, .hctrs = COUNTERS, .fault = "one"};
	assert_true(hpm_selfcheck_filters(&hpm));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_side_by_side, boot),
	    cmocka_unit_test_setup(test_nothing_is_left, boot),
	    cmocka_unit_test_setup(test_filters_are_mixed_up, boot),
	    cmocka_unit_test_setup(test_one_counts_at_a_time, boot),
	    cmocka_unit_test_setup(test_not_tried, boot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
