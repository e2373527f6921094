/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that configure, start, stop and read counters. */
#include "guests/bench/bench.h"

#define CYCLES 1UL
#define FAR    0x8000000000000001UL /* where Linux starts what it only counts */

static uint64_t hw, fw; /* masks */
static uint64_t cycles_mask, four_mask, fw_mask;
static uint32_t read_insn;
static const uint64_t four_events[] = {1, 2, 0x10019, 0x10021};

static void find(void)
{
	uint64_t n = sbi_pmu(SBI_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value;

	for (uint64_t i = 3; i < n && i < 64; i++) {
		struct sbiret r = sbi_pmu(SBI_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);

		if (!r.error)
			*(r.value & SBI_PMU_INFO_TYPE_FW ? &fw : &hw) |= BIT(i);
	}
}

static void config(void)
{
	cycles_mask = BIT(pmu_config(hw, SBI_PMU_CFG_FLAG_SET_UINH, CYCLES).value);
}

/* Another filter than config(), so that the counter has to be programmed anew. */
static void config_other(void)
{
	cycles_mask = BIT(pmu_config(hw, SBI_PMU_CFG_FLAG_SET_SINH, CYCLES).value);
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

static void read_counter(void)
{
	insn_run(read_insn, 0);
}

static void four_config(void)
{
	four_mask = 0;
	for (unsigned i = 0; i < 4; i++)
		four_mask |= BIT(pmu_config(hw, 0, four_events[i]).value);
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
	for (uint64_t left = four_mask; left; left &= left - 1)
		insn_run(INSN_CSRR_A0(CSR_CYCLE + first(left)), 0);
	pmu_start(four_mask, FAR);
}

/* What Linux does when it puts one task's event away and takes up the next one's. */
static void context_switch(void)
{
	stop();
	reset();
	config();
	start();
}

static void fw_read(void)
{
	sbi_pmu(SBI_PMU_COUNTER_FW_READ, first(fw_mask), 0, 0, 0, 0);
}

static void bench_reads(void)
{
	static const struct row direct = {.name = "read-direct", .op = read_counter};
	static const struct row trapped = {.name = "read-trapped", .op = read_counter};
	static const struct row scountovf = {.name = "scountovf", .op = read_counter};
	struct sbiret second;

	config_start();
	read_insn = INSN_CSRR_A0(CSR_CYCLE + first(cycles_mask));
	bench(&direct);
	/* The same again shares the counter, and reads of the second one trap (Tally only). */
	second = pmu_config(hw, SBI_PMU_CFG_FLAG_SET_UINH, CYCLES);
	if (!second.error && (BIT(second.value) & hw)) {
		pmu_start(BIT(second.value), 0);
		read_insn = INSN_CSRR_A0(CSR_CYCLE + second.value);
		trap_guard();
		bench(&trapped);
		trap_unguard();
		pmu_stop(BIT(second.value));
		pmu_reset(BIT(second.value));
	}
	read_insn = INSN_CSRR_A0(CSR_SCOUNTOVF);
	bench(&scountovf);
	stop_reset();
}

static void bench_fw(void)
{
	static const struct row row = {.name = "fw_read", .op = fw_read};
	struct sbiret r = pmu_config(fw, 0, SBI_PMU_TYPE_FW << 16 | SBI_PMU_FW_SET_TIMER);

	if (r.error)
		return;
	fw_mask = BIT(r.value);
	pmu_start(fw_mask, 0);
	bench(&row);
	pmu_reset(fw_mask);
}

void bench_pmu(void)
{
	static const struct row rows[] = {
	    {.name = "config-same", .op = config, .after = reset},
	    {.name = "config-other", .op = config, .before = config_other_reset, .after = reset},
	    {.name = "start", .op = start, .before = config, .after = stop_reset},
	    {.name = "stop", .op = stop, .before = config_start, .after = reset},
	    {.name = "stop-read-start-four",
	     .op = four,
	     .before = four_config,
	     .after = four_reset,
	     .rounds = 2000},
	    {.name = "context-switch",
	     .op = context_switch,
	     .before = config_start,
	     .after = stop_reset},
	};

	find();
	bench_reads();
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		bench(&rows[i]);
	bench_fw();
}
