/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every period with every filter, in S and in U, after starts from different values: how many
 * interrupts come for a number of starts, after how many instructions, and what the counter reads
 * then. `event=`, `flags=`: of one event or filter alone.
 */
#include "guests/sampling/sampling.h"

#define ARMINGS 3U

/* Whether code of a mode counts with these flags. */
static bool counts(uint64_t flags, bool user)
{
	return !(flags & (user ? UINH : SINH));
}

/* The counter has counted something else before it is armed: a few instructions from this value. */
static void count_from(uint32_t ctr, uint64_t value)
{
	pmu_start(BIT(ctr), value);
	user_run(user_code, 5, 0);
	pmu_stop(BIT(ctr));
}

static void row(uint32_t ctr, uint64_t flags, bool user, uint64_t period, uint64_t from)
{
	/* The instruction before the code is one of S. */
	uint64_t before = counts(flags, false), interrupts = 0, position = 0, value = 0;
	uint64_t odd = 0;

	for (unsigned i = 0; i < ARMINGS; i++) {
		struct run r = {.start_mask = BIT(ctr), .start_value = -period, .user = user};

		/* Far longer than the period. If nothing counts, a fixed time. */
		r.rounds = counts(flags, user) ? period / 2 + 500 : 2000;
		count_from(ctr, from);
		run_code(&r);
		pmu_stop(BIT(ctr));
		interrupts += r.interrupts;
		if (!r.interrupts)
			continue;
		odd += i && interrupts > 1 && position && position != run_position(&r) + before;
		position = run_position(&r) + before;
		value = r.counter;
		odd += r.cause != CAUSE_LCOFI || own_flags(r.scountovf, BIT(ctr)) != BIT(ctr) ||
		       !(r.sip & IRQ_LCOFI) || r.sip_after & IRQ_LCOFI;
		odd += own_flags(csr_read(CSR_SCOUNTOVF), BIT(ctr)) != BIT(ctr);
	}
	print("flags 0x%x %s period %u from 0x%x:", flags, user ? "U" : "S", period, from);
	print(" %u interrupts after %u, counter %u, odd %u\n", interrupts, position, value, odd);
}

static void filter(uint64_t event, uint64_t flags)
{
	static const uint64_t periods[] = {1, 2, 10, 1000, 100000, 10000000};
	static const uint64_t froms[] = {0, 1UL << 61, 1UL << 63};
	uint32_t ctr;

	if (bootarg_num("event", event) != event || bootarg_num("flags", flags) != flags)
		return;
	ctr = configure(hw_counters(), flags, event);
	if (!ctr)
		return;
	print("event 0x%x\n", event);
	run_reads(ctr);
	for (unsigned f = 0; f < 3; f++)
		for (unsigned user = 0; user < 2; user++)
			for (unsigned p = 0; p < 6; p++)
				/* If the mode does not count, one period is enough, which the code
				 * around it cannot reach. */
				if (counts(flags, user) || periods[p] == 1000)
					row(ctr, flags, user, periods[p], froms[f]);
	pmu_reset(BIT(ctr));
}

int table(void)
{
	static const uint64_t filters[] = {0, UINH, SINH, UINH | SINH};

	csr_clear(sip, IRQ_LCOFI);
	csr_set(sie, IRQ_LCOFI);
	for (unsigned i = 0; i < 4; i++) {
		filter(EVENT_CYCLES, filters[i]);
		filter(EVENT_INSTRUCTIONS, filters[i]);
	}
	print("table: ends\n");
	return 0;
}
