/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that configure, start, stop and read counters. */
#include "guests/bench/bench.h"

#define CYCLES 1UL
#define FAR    0x8000000000000001UL /* where Linux starts a counter that it does not sample */

static uint64_t hw, fw; /* masks */
static uint64_t cycles_mask, four_mask, fw_counter;
static operation_t four_reads[4];
static const uint64_t four_events[] = {1, 2, 0x10019, 0x10021};

static void config(void)
{
	cycles_mask = BIT(pmu_config(hw, SBI_PMU_CFG_FLAG_SET_UINH, CYCLES).value);
}

/* Uses another filter than config(), so that the counter must be programmed again. */
static void config_other(void)
{
	cycles_mask = BIT(pmu_config(hw, SBI_PMU_CFG_FLAG_SET_SINH, CYCLES).value);
}

/* Uses other than the lowest counters; Tally counts cycles on one of those. */
static void config_elsewhere(void)
{
	cycles_mask = BIT(pmu_config(hw & ~0xfUL, SBI_PMU_CFG_FLAG_SET_UINH, CYCLES).value);
}

static void reset(void)
{
	pmu_reset(cycles_mask);
}

static void config_other_reset(void)
{
	config_other();
	reset();
}

static void start(void)
{
	pmu_start(cycles_mask, FAR);
}

/* Starts without a value. */
static void start_kept(void)
{
	sbi_pmu(SBI_PMU_COUNTER_START, 0, cycles_mask, 0, 0, 0);
}

static void stop(void)
{
	pmu_stop(cycles_mask);
}

static void stop_reset(void)
{
	stop();
	reset();
}

static void config_start(void)
{
	config();
	start();
}

static void config_start_stop(void)
{
	config_start();
	stop();
}

static void four_config(void)
{
	four_mask = 0;
	for (unsigned i = 0; i < 4; i++) {
		uint64_t ctr = pmu_config(hw, 0, four_events[i]).value;

		four_mask |= BIT(ctr);
		four_reads[i] = read_op(ctr);
	}
	pmu_start(four_mask, FAR);
}

static void four_reset(void)
{
	pmu_stop(four_mask);
	pmu_reset(four_mask);
}

static void four(void)
{
	pmu_stop(four_mask);
	for (unsigned i = 0; i < 4; i++)
		four_reads[i]();
	pmu_start(four_mask, FAR);
}

static void four_kept(void)
{
	pmu_stop(four_mask);
	for (unsigned i = 0; i < 4; i++)
		four_reads[i]();
	sbi_pmu(SBI_PMU_COUNTER_START, 0, four_mask, 0, 0, 0);
}

/* What Linux does when it switches from one task's event to another's. */
static void context_switch(void)
{
	stop();
	reset();
	config();
	start();
}

static void fw_read(void)
{
	sbi_pmu(SBI_PMU_COUNTER_FW_READ, fw_counter, 0, 0, 0, 0);
}

static void bench_fw(void)
{
	static const struct row row = {.name = "fw_read", .op = fw_read};
	struct sbiret r = pmu_config(fw, 0, SBI_PMU_TYPE_FW << 16 | SBI_PMU_FW_SET_TIMER);

	if (r.error)
		return;
	fw_counter = r.value;
	pmu_start(BIT(fw_counter), 0);
	bench(&row);
	pmu_reset(BIT(fw_counter));
}

void bench_pmu(uint64_t hw_mask, uint64_t fw_mask)
{
	static const struct row rows[] = {
	    {.name = "config-same", .op = config, .after = reset},
	    {.name = "config-other", .op = config, .before = config_other_reset, .after = reset},
	    {.name = "config-elsewhere",
	     .op = config_elsewhere,
	     .before = config_other_reset,
	     .after = reset},
	    {.name = "start", .op = start, .before = config, .after = stop_reset},
	    {.name = "start-kept", .op = start_kept, .before = config, .after = stop_reset},
	    {.name = "start-again",
	     .op = start_kept,
	     .before = config_start_stop,
	     .after = stop_reset},
	    {.name = "stop", .op = stop, .before = config_start, .after = reset},
	    {.name = "stop-reset", .op = reset, .before = config_start},
	    {.name = "stop-read-start-four",
	     .op = four,
	     .before = four_config,
	     .after = four_reset,
	     .rounds = 2000},
	    {.name = "stop-read-start-four-kept",
	     .op = four_kept,
	     .before = four_config,
	     .after = four_reset,
	     .rounds = 2000},
	    {.name = "context-switch",
	     .op = context_switch,
	     .before = config_start,
	     .after = stop_reset},
	};

	hw = hw_mask;
	fw = fw_mask;
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		bench(&rows[i]);
	bench_fw();
}
