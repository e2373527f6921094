/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest whose VM has pmu-overflow-limit = `limit=`, and that asks for a sample every `period=`
 * instructions of U. Each sample comes in its place until the limit of the window is reached. The
 * next one comes when the window is over, and begins the next window.
 */
#include "guests/sampling/sampling.h"

#define LCOFI_RAISED 267U
#define LCOFI_HELD   270U
#define WINDOW       100000UL /* ticks */
#define ROUNDS       50UL

static uint32_t ctr, raised, held;
static uint64_t period, limit, wanted;
static uint64_t taken, windows, in_window, wrong;
static uint64_t before, armed_at; /* instructions of U: in runs that are over; when it was armed */
static uint64_t since, shortest = ~0UL, longest;
static bool over; /* no more samples are requested */

/* One sample was held: the window is over, and had its number of samples. */
static void next_window(uint64_t now)
{
	if (windows++) {
		wrong += in_window != limit;
		if (now - since < shortest)
			shortest = now - since;
		if (now - since > longest)
			longest = now - since;
	}
	since = now;
	in_window = 0;
}

static void on_overflow(struct trap_frame *f)
{
	uint64_t now = csr_read(time), at = before + user_position(f, ROUNDS);

	if (!taken || at - armed_at != period)
		next_window(now);
	taken++;
	in_window++;
	/* The counter has counted on, and OF is set. */
	wrong += counter_read(ctr) != at - armed_at - period ||
	         csr_read(CSR_SCOUNTOVF) != BIT(ctr) || !(csr_read(sip) & IRQ_LCOFI);
	pmu_stop(BIT(ctr));
	csr_clear(sip, IRQ_LCOFI);
	over = windows > wanted;
	if (!over)
		pmu_start(BIT(ctr), -period);
	armed_at = at;
	wrong += !!(csr_read(sip) & IRQ_LCOFI);
}

/* Between two runs, a counter with a held interrupt must be as usual. */
static void look(void)
{
	uint64_t count = before - armed_at - period;

	wrong +=
	    counter_read(ctr) != count || csr_read(CSR_SCOUNTOVF) != (count >> 63 ? 0 : BIT(ctr));
}

static void run(void)
{
	user_run(user_code, ROUNDS, 0);
	before += 2 * ROUNDS + 1;
}

static uint64_t value(uint32_t fw)
{
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, fw, 0, 0, 0, 0).value;
}

static uint32_t fw_counter(uint64_t among, uint32_t code)
{
	uint32_t fw = configure(among, 0, 0xf0000 | code);

	pmu_start(BIT(fw), 0);
	return fw;
}

/* In S: `n` overflows, by wraps right after their starts; the handler is not used. */
static uint64_t exhaust(uint64_t n)
{
	uint64_t seen = 0;

	for (uint64_t i = 0; i < n; i++) {
		pmu_start(BIT(ctr), -1UL);
		user_run(user_code, 1, 0);
		pmu_stop(BIT(ctr));
		seen += !!(csr_read(sip) & IRQ_LCOFI);
		csr_clear(sip, IRQ_LCOFI);
	}
	return seen;
}

static void wait(uint64_t ticks)
{
	uint64_t from = csr_read(time), now = from;

	while (now - from < ticks)
		now = csr_read(time);
}

/* With LCOFI masked: a held LCOFI becomes pending when the window is over if its OF bit is still
 * set, and only then. */
static void by_hand(void)
{
	uint64_t from, raised_before, held_before;

	csr_clear(sie, IRQ_LCOFI);
	for (int how = 0; how < 3; how++) {
		wait(2 * WINDOW);
		raised_before = value(raised);
		held_before = value(held);
		from = csr_read(time);
		print("%u come", exhaust(limit));
		print(", %u of 3 more", exhaust(3));
		if (how == 0) {
			/* A start clears OF, so the held LCOFI is dropped. */
			pmu_start(BIT(ctr), 0);
			wait(WINDOW);
		} else if (how == 1) {
			wait(WINDOW);
		} else {
			/* It ends a WFI if it is enabled. */
			csr_clear(sstatus, SSTATUS_SIE);
			csr_set(sie, IRQ_LCOFI);
			wfi();
			csr_clear(sie, IRQ_LCOFI);
			wrong += csr_read(time) - from < WINDOW - 10;
		}
		print("; later LCOFIP %u, made pending %u, held back %u\n",
		      !!(csr_read(sip) & IRQ_LCOFI), value(raised) - raised_before,
		      value(held) - held_before);
		pmu_stop(BIT(ctr));
		csr_clear(sip, IRQ_LCOFI);
	}
}

/*
 * An overflow may be found by a trapped read of a counter that shares with the one that wraps. It
 * is held like others. The wrap is at the read, or up to two instructions beside it.
 */
static void by_read(void)
{
	uint64_t hw = hw_counters(), latest = 0, at;
	uint32_t wraps, shares;

	pmu_reset(BIT(ctr));
	wraps = configure(hw, UINH, EVENT_INSTRUCTIONS);
	shares = configure(hw & ~BIT(wraps), UINH, EVENT_INSTRUCTIONS);
	pmu_start(BIT(shares), 0);
	pmu_start(BIT(wraps), 0);
	at = counter_read(wraps);
	pmu_stop(BIT(wraps));
	for (uint64_t left = at - 2; left <= at + 2; left++) {
		uint64_t from, now;

		wait(2 * WINDOW);
		from = now = csr_read(time);
		for (uint64_t i = 0; i < limit; i++) {
			pmu_start(BIT(wraps), -1UL);
			pmu_stop(BIT(wraps));
			wrong += !(csr_read(sip) & IRQ_LCOFI);
			csr_clear(sip, IRQ_LCOFI);
		}
		pmu_start(BIT(wraps), -left);
		counter_read(shares);
		while (!(csr_read(sip) & IRQ_LCOFI) && now - from < 20 * WINDOW)
			now = csr_read(time);
		if (now - from > latest)
			latest = now - from;
		pmu_stop(BIT(wraps));
		csr_clear(sip, IRQ_LCOFI);
	}
	/* The window began some calls later, and a timer ends it. */
	wrong += latest < WINDOW || latest > WINDOW + 100;
	print("found by reads: the last after %u ticks\n", latest);
}

int limited(void)
{
	uint64_t fw = fw_counters();

	period = bootarg_num("period", 1);
	limit = bootarg_num("limit", 1);
	wanted = bootarg_num("windows", 10);
	raised = fw_counter(fw, LCOFI_RAISED);
	held = fw_counter(fw & ~BIT(raised), LCOFI_HELD);
	ctr = configure(hw_counters(), SINH, EVENT_INSTRUCTIONS);
	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	pmu_start(BIT(ctr), -period);
	for (uint64_t from = csr_read(time);
	     !over && csr_read(time) - from < 2 * WINDOW * wanted;) {
		run();
		if (!over)
			look();
	}
	pmu_stop(BIT(ctr));
	csr_clear(sip, IRQ_LCOFI);
	print("limit: %u samples, %u windows of %u to %u ticks\n", taken, windows, shortest,
	      longest);
	print("limit: made pending %u, held back %u\n", value(raised), value(held));
	if (over) {
		by_hand();
		/* Not with other guests, because the window may end in a slice of another one, nor
		 * if no counters may share. */
		if (!bootarg_is("shared", "no"))
			by_read();
	}
	print("limit: ends, %u wrong\n", wrong);
	return !!wrong;
}
