/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values of counters. They have SINH, so that they stand still here and each value is known
 * exactly.
 */
#include "guests/selftest/selftest.h"

#include "guests/lib/csr.h"
#include "guests/lib/trap.h"

#define SINH  SBI_PMU_CFG_FLAG_SET_SINH
#define CLEAR SBI_PMU_CFG_FLAG_CLEAR_VALUE

static void start_values(uint32_t ctr)
{
	static const uint64_t values[] = {
	    0,
	    1,
	    0x123456789abcdefUL,
	    0x4000000000000000UL,
	    0x6000000000000000UL,
	    0x7fffffffffffffffUL,
	    0x8000000000000000UL,
	    0x8000000000000001UL,
	    0xc000000000000000UL,
	    0xffffffff00000000UL,
	    0xfffffffffffffc18UL,
	    ~0UL,
	};
	bool running = true, stopped = true, resumed = true;

	for (unsigned i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		pmu_start(BIT(ctr), values[i]);
		running &= counter_read(ctr) == (values[i] & fw.value_mask);
		pmu_stop(BIT(ctr));
		stopped &= counter_read(ctr) == (values[i] & fw.value_mask);
		sbi_pmu(SBI_PMU_COUNTER_START, 0, BIT(ctr), 0, 0x55, 0);
		resumed &= counter_read(ctr) == (values[i] & fw.value_mask);
		pmu_stop(BIT(ctr));
	}
	report(running, "11.9", "start: twelve initial values, read while running");
	report(stopped, "11.9", "start: twelve initial values, read when stopped");
	report(resumed, "11.9", "start: without SET_INIT_VALUE the value stays");
}

static void survival(uint32_t ctr)
{
	pmu_start(BIT(ctr), 4711);
	pmu_stop(BIT(ctr));
	pmu_config(BIT(ctr), SINH | SBI_PMU_CFG_FLAG_SKIP_MATCH, EVENT_INSTRUCTIONS);
	report_eq(counter_read(ctr), 4711, "11.8",
	          "config_matching: SKIP_MATCH leaves the value alone");
	pmu_config(BIT(ctr), SINH | SBI_PMU_CFG_FLAG_SKIP_MATCH | CLEAR, EVENT_INSTRUCTIONS);
	report_eq(counter_read(ctr), 0, "11.8",
	          "config_matching: SKIP_MATCH and CLEAR_VALUE clear it");
	pmu_start(BIT(ctr), 4712);
	pmu_reset(BIT(ctr));
	pmu_config(BIT(ctr), SINH, EVENT_INSTRUCTIONS);
	report_eq(counter_read(ctr), 4712, "11.10",
	          "stop: the value survives RESET and a configuration without CLEAR_VALUE");
	sbi_pmu(SBI_PMU_COUNTER_START, 0, BIT(ctr), 0, 0, 0);
	report_eq(counter_read(ctr), 4712, "11.9", "start: goes on from the value that survived");
	pmu_reset(BIT(ctr));
	pmu_config(BIT(ctr), SINH | CLEAR, EVENT_INSTRUCTIONS);
	report_eq(counter_read(ctr), 0, "11.8", "config_matching: CLEAR_VALUE clears");
	pmu_reset(BIT(ctr));
	pmu_start(BIT(ctr), 0);
	pmu_config(BIT(ctr), SINH | SBI_PMU_CFG_FLAG_AUTO_START, EVENT_INSTRUCTIONS);
	report_eq(counter_read(ctr), 0, "11.8",
	          "config_matching: AUTO_START has no impact on the value");
	pmu_start(BIT(ctr), 99);
	report_eq(counter_read(ctr), 0, "11.9",
	          "start: ALREADY_STARTED does not write the initial value");
	reset_all();
}

/* Two counters in one call: both get the value. */
static void one_value_for_all(void)
{
	pmu_config(BIT(fw.a), SINH, EVENT_INSTRUCTIONS);
	pmu_config(BIT(fw.b), SINH, EVENT_CYCLES);
	pmu_start(BIT(fw.a) | BIT(fw.b), 0x8000000000000001UL);
	report(counter_read(fw.a) == (0x8000000000000001UL & fw.value_mask) &&
	           counter_read(fw.b) == (0x8000000000000001UL & fw.value_mask),
	       "11.9", "start: one initial value for two counters");
	reset_all();
}

static void unconfigured_read(void)
{
	uint32_t ctr = fw_obeys() ? fw.c : fw.a;
	struct trap_seen seen;

	reset_all();
	trap_guard();
	counter_read(ctr);
	seen = trap_unguard();
	report_eq(seen.cause, CAUSE_ILLEGAL, "11.7",
	          "the CSR of an unconfigured counter -> illegal instruction");
	pmu_config(BIT(ctr), SINH | CLEAR, EVENT_INSTRUCTIONS);
	trap_guard();
	counter_read(ctr);
	seen = trap_unguard();
	report_eq(seen.cause, ~0UL, "11.7", "the CSR of a configured, stopped counter is readable");
	trap_guard();
	insn_run(INSN_CSRW_A0(CSR_CYCLE + ctr), 0);
	seen = trap_unguard();
	report_eq(seen.cause, CAUSE_ILLEGAL, "11.7",
	          "a write to the CSR of a counter -> illegal instruction");
	reset_all();
}

void test_values(void)
{
	int ctr;

	if (lacks_filters("11.9", "what a counter holds"))
		return;
	ctr = config_any(EVENT_INSTRUCTIONS, SINH, "11.8", "config_matching: for values");
	if (ctr < 0)
		return;
	start_values((uint32_t)ctr);
	survival((uint32_t)ctr);
	one_value_for_all();
	unconfigured_read();
}
