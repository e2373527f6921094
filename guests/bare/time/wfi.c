/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that a waiting instruction counts as one, and that nothing else counts. Prints what code
 * counts that differs in one instruction: a nop; WFI with a pending interrupt; WFI that sleeps for
 * a millisecond; WRS.NTO. edges=yes: the same at the end of a page. idle=yes: only sleeps, without
 * counting. idle=ever: no interrupt ends the sleep.
 */
#include "guests/bare/bare.h"

#define ROUNDS      100
#define MILLISECOND 10000UL
#define AT_ONCE     0UL

uint64_t count_around(read_t read, void (*body)(void));
void body_nop(void);
void body_wfi(void);
void body_wrs(void);
void edge_nop(void);
void edge_wfi(void);
void edge_wrs(void);
void across_nop(void);
void across_wfi(void);
void across_wrs(void);

/* Interrupts stay off: the pending one ends WFI and is not taken. */
static void set_timer(uint64_t delay)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, delay ? csr_read(time) + delay : 0, 0, 0, 0, 0,
	         0);
}

static void count(uint32_t ctr, const char *name, void (*body)(void), uint64_t delay)
{
	uint64_t least = ~0UL, most = 0;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t n;

		set_timer(delay);
		n = count_around(read_of(ctr), body);
		least = n < least ? n : least;
		most = n > most ? n : most;
	}
	print(" %s %u", name, least);
	if (most != least)
		print("..%u", most);
}

/* At the end of a page, and across it. */
static void edges(uint64_t hw)
{
	struct sbiret r = pmu_config(hw, 0, EVENT_INSTRUCTIONS);
	uint32_t ctr = (uint32_t)r.value;

	print("wfi: edges:");
	if (r.error || pmu_start(BIT(ctr), 0)) {
		print(" refused\n");
		return;
	}
	count(ctr, "nop", edge_nop, AT_ONCE);
	count(ctr, "wrs", edge_wrs, AT_ONCE);
	count(ctr, "wfi", edge_wfi, AT_ONCE);
	count(ctr, "asleep", edge_wfi, MILLISECOND);
	print("; across:");
	count(ctr, "nop", across_nop, AT_ONCE);
	count(ctr, "wrs", across_wrs, AT_ONCE);
	count(ctr, "wfi", across_wfi, AT_ONCE);
	count(ctr, "asleep", across_wfi, MILLISECOND);
	print("\n");
	pmu_reset(BIT(ctr));
}

int wfi_kind(uint64_t hartid)
{
	static const uint64_t filters[] = {0, SBI_PMU_CFG_FLAG_SET_UINH, SBI_PMU_CFG_FLAG_SET_SINH};
	uint64_t hw = find_counters().hw;

	(void)hartid;
	while (bootarg_is("idle", "ever"))
		body_wfi();
	csr_set(sie, IRQ_TIMER);
	if (bootarg_is("edges", "yes")) {
		edges(hw);
		return 0;
	}
	for (int i = 0; bootarg_is("idle", "yes") && i < ROUNDS; i++) {
		set_timer(MILLISECOND);
		body_wfi();
	}
	for (unsigned i = 0; i < 6 && !bootarg("idle"); i++) {
		uint64_t event = i < 3 ? EVENT_INSTRUCTIONS : EVENT_CYCLES;
		struct sbiret r = pmu_config(hw, filters[i % 3], event);
		uint32_t ctr = (uint32_t)r.value;

		print("wfi: event 0x%x flags 0x%x:", event, filters[i % 3]);
		if (r.error || pmu_start(BIT(ctr), 0)) {
			print(" refused\n");
			continue;
		}
		count(ctr, "nop", body_nop, AT_ONCE);
		count(ctr, "wrs", body_wrs, AT_ONCE);
		count(ctr, "wfi", body_wfi, AT_ONCE);
		count(ctr, "asleep", body_wfi, MILLISECOND);
		print("\n");
		pmu_reset(BIT(ctr));
	}
	print("wfi: ends\n");
	return 0;
}
