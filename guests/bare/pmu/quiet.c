/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of known length, and how often Tally interrupted it: `spans=` stretches, each with a sleep
 * of `sleep=` ticks, and with 2 * `length=` + 1 instructions, whose cycles and instructions it
 * counts. Prints how many exits and instructions in HS there were more than in a short stretch.
 */
#include "guests/bare/bare.h"

#define EXITS           256UL /* docs/events.md */
#define HS_INSTRUCTIONS 265UL
#define START           0x8000000000000001UL

struct cost {
	uint64_t exits, insns;
};

static uint64_t exits_ctr, insns_ctr;

static uint64_t value(uint64_t ctr)
{
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0).value;
}

static struct cost now(void)
{
	uint64_t exits = value(exits_ctr);

	return (struct cost){exits, value(insns_ctr)};
}

static bool begin(uint64_t *fw, uint64_t *ctr, uint64_t code)
{
	struct sbiret r = pmu_config(*fw, 0, SBI_PMU_TYPE_FW << 16 | code);

	*ctr = r.value;
	*fw &= ~BIT(r.value);
	return !r.error && !pmu_start(BIT(r.value), 0);
}

/* A counter of the hart that runs makes each WFI trap, so there is none during the sleep. */
static struct cost slept(uint64_t ticks)
{
	struct cost from = now(), to;

	sleep_for(ticks);
	to = now();
	return (struct cost){to.exits - from.exits, to.insns - from.insns};
}

static struct cost computed(uint64_t hw, uint64_t event, uint64_t length, uint64_t *count)
{
	struct sbiret r = pmu_config(hw, 0, event);
	struct cost from, to;

	if (r.error || pmu_start(BIT(r.value), START))
		print("quiet: no counter for event %u\n", event);
	from = now();
	*count = segment_of((uint32_t)r.value)(length);
	to = now();
	pmu_reset(BIT(r.value));
	return (struct cost){to.exits - from.exits, to.insns - from.insns};
}

static void tell(const char *what, struct cost all, struct cost nothing)
{
	print("quiet: %s: %u exits,", what, all.exits - nothing.exits);
	print(" %u instructions in HS\n", all.insns - nothing.insns);
}

int quiet_kind(uint64_t hartid)
{
	uint64_t length = bootarg_num("length", 1000), sleep = bootarg_num("sleep", 0);
	uint64_t spans = bootarg_num("spans", 1), wrong = 0, count;
	struct counters c = find_counters();

	(void)hartid;
	if (!begin(&c.fw, &exits_ctr, EXITS) || !begin(&c.fw, &insns_ctr, HS_INSTRUCTIONS))
		return 1;
	for (uint64_t i = 0; i < spans; i++) {
		if (sleep) {
			struct cost nothing;

			slept(100); /* the first WFI behind counters traps */
			nothing = slept(100);
			tell("asleep", slept(sleep), nothing);
		}
		for (uint64_t event = EVENT_CYCLES; event <= EVENT_INSTRUCTIONS; event++) {
			struct cost nothing = computed(c.hw, event, 1, &count);
			struct cost all = computed(c.hw, event, length, &count);

			wrong += count != 2 * length + 1;
			tell(event == EVENT_CYCLES ? "cycles" : "instructions", all, nothing);
		}
	}
	print("quiet: ends, %u wrong of %u\n", wrong, 2 * spans);
	return wrong ? 1 : 0;
}
