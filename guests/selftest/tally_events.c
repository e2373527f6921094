/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Section 11.5: the implementation's own firmware events. Codes 256 and up mean something else, or
 * nothing, to other firmware. Only what other guests cannot change is compared.
 */
#include "guests/selftest/selftest.h"

#include "guests/lib/csr.h"
#include "guests/lib/trap.h"

#define NOWHERE 0x2000000UL

static void sbi_spec_version(void)
{
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0, 0);
}

static void unconfigured_counter(void)
{
	trap_guard();
	insn_run(INSN_CSRR_A0(CSR_CYCLE + fw.c), 0);
	trap_unguard();
}

static void load_from_nothing(void)
{
	trap_guard();
	insn_run(0x00053503, NOWHERE); /* ld a0, 0(a0) */
	trap_unguard();
}

/* With a pending interrupt WFI ends at once, and while cycles are counted it traps. */
static void wait_for_interrupt(void)
{
	wfi();
}

static void refused_event(void)
{
	sbi_pmu(SBI_PMU_COUNTER_CONFIG_MATCHING, 0, fw.fw, 0, EVENT_FW(SBI_PMU_FW_PLATFORM), 0);
}

static void nothing(void)
{
}

/* Returns the count of `times` actions. All ones: the event is refused. */
static uint64_t count(uint32_t code, void (*action)(void), int times)
{
	struct sbiret r = pmu_config(fw.fw, 0, EVENT_FW(code));
	uint64_t value;

	if (r.error)
		return ~0UL;
	pmu_start(BIT(r.value), 0);
	for (int i = 0; i < times; i++)
		action();
	value = sbi_pmu(SBI_PMU_COUNTER_FW_READ, r.value, 0, 0, 0, 0).value;
	pmu_reset(BIT(r.value));
	return value;
}

static void exits(void)
{
	uint64_t all;

	/* The call that started the counter ends after the counter has begun to count. */
	report_eq(count(257, sbi_spec_version, 5), 6, "11.5",
	          "exits by SBI calls: five and the start");
	all = count(256, sbi_spec_version, 5);
	report(all >= 6 && all < 1000, "11.5", "exits: no fewer than by SBI calls");
	report_eq(count(262, unconfigured_counter, 5), 5, "11.5",
	          "exits by CSR reads: five count 5");
	report_eq(count(262, sbi_spec_version, 5), 0, "11.5", "exits by CSR reads: no others");
	report_eq(count(261, load_from_nothing, 5), 5, "11.5",
	          "exits by device accesses: five count 5");

	pmu_config(BIT(fw.b), 0, EVENT_CYCLES);
	pmu_start(BIT(fw.b), 0);
	sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, fw.hartid, 0, 0, 0, 0);
	csr_set(sie, IRQ_SOFT);
	report_eq(count(263, wait_for_interrupt, 5), 5, "11.5", "exits by WFI: five count 5");
	csr_clear(sie, IRQ_SOFT);
	csr_clear(sip, IRQ_SOFT);
	pmu_reset(BIT(fw.b));
}

static void overflow(void)
{
	pmu_config(BIT(fw.a), 0, EVENT_INSTRUCTIONS);
	pmu_start(BIT(fw.a), -3UL);
	pmu_stop(BIT(fw.a));
}

static void overflows(void)
{
	static const char name[] = "virtual LCOFIs: one overflow counts 1";

	if (!fw.lcofi) {
		report_skip("11.5", name, "sie bit 13 cannot be set");
		return;
	}
	report_eq(count(267, overflow, 1), 1, "11.5", name);
	csr_clear(sip, IRQ_LCOFI);
	reset_all();
}

static void others(void)
{
	report_eq(count(268, refused_event, 5), 5, "11.5", "requests refused: five count 5");
	report_eq(count(268, sbi_spec_version, 5), 0, "11.5", "requests refused: no others");
	overflows();
	report(count(265, sbi_spec_version, 5) >= 100, "11.5",
	       "instructions in HS: some for each call");
	report(count(266, nothing, 0) != ~0UL, "11.5", "steal time can be counted");
	report(count(269, sbi_spec_version, 5) <= 20000, "11.5", "the longest stay can be counted");
}

void test_tally_events(void)
{
	if (fw.impl_id != TALLY_SBI_IMP_ID) {
		report_skip("11.5", "Tally's own events", "this is not Tally");
		return;
	}
	exits();
	others();
	for (uint32_t code = 264; code <= 272; code++)
		report(pmu_config(fw.fw, 0, EVENT_FW(code)).error ==
		           (code <= 271 ? SBI_SUCCESS : SBI_ERR_NOT_SUPPORTED),
		       "11.5", "Tally's own events: 271 is the last");
	reset_all();
}
