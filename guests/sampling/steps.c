/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sip.LCOFIP and scountovf step by step, and what happens with overflows that are not taken for a
 * long time. The counters count U only, so nothing but user_run() changes them.
 */
#include "guests/sampling/sampling.h"

static uint64_t used;
static uint32_t first;

/* Names the counters in the order of configuration, whatever their indices are. */
static uint32_t order[64];

static uint64_t named(uint64_t mask)
{
	uint64_t names = 0;

	for (uint32_t i = 0; i < first; i++)
		names |= mask >> order[i] & 1 ? BIT(i) : 0;
	return names | (mask & ~used);
}

static uint64_t flags(void)
{
	return named(own_flags(csr_read(CSR_SCOUNTOVF), used));
}

static void state(const char *when)
{
	print("%s: LCOFIP %u, flags 0x%x\n", when, csr_read(sip) >> 13 & 1, flags());
}

static uint64_t rounds, interrupts;

static void on_overflow(struct trap_frame *f)
{
	interrupts++;
	print("interrupt after %u: LCOFIP %u, flags 0x%x\n",
	      f->status & 0x100 ? 0 : user_position(f, rounds), csr_read(sip) >> 13 & 1, flags());
	csr_clear(sip, IRQ_LCOFI);
}

static void run(uint64_t n)
{
	rounds = n;
	user_run(user_code, n, 0);
}

static uint32_t add(uint64_t mask, uint64_t event)
{
	uint32_t ctr = configure(mask & ~used, SINH, event);

	if (ctr) {
		used |= BIT(ctr);
		order[first++] = ctr;
	}
	return ctr;
}

static void drop_all(void)
{
	csr_clear(sie, IRQ_LCOFI);
	csr_clear(sip, IRQ_LCOFI);
	pmu_reset(used);
	used = 0;
	first = 0;
}

static void masked(uint64_t event)
{
	uint32_t ctr = add(hw_counters(), event);

	print("masked in sie\n");
	pmu_start(BIT(ctr), -1000UL);
	state("armed");
	run(400);
	state("before the wrap");
	run(400);
	state("after it");
	run(1000000);
	state("long after it");
	csr_clear(sip, IRQ_LCOFI);
	state("cleared");
	run(1000);
	state("once more");
	pmu_stop(BIT(ctr));
	state("stopped");
	pmu_start(BIT(ctr), -1000UL);
	state("armed again");
	csr_set(sie, IRQ_LCOFI);
	run(2000);
	state("unmasked meanwhile");
	pmu_stop(BIT(ctr));
	pmu_start(BIT(ctr), 0x4000000000000000UL);
	state("far from the wrap");
	drop_all();
}

/* The interrupt is pending while S has interrupts off. */
static void off(uint64_t event)
{
	uint32_t ctr = add(hw_counters(), event);

	print("interrupts off\n");
	pmu_start(BIT(ctr), -1000UL);
	run(600);
	state("wrapped while masked");
	csr_set(sie, IRQ_LCOFI);
	for (volatile int i = 0; i < 1000000; i++)
		;
	state("unmasked, off for long");
	csr_set(sstatus, SSTATUS_SIE);
	csr_clear(sstatus, SSTATUS_SIE);
	state("on for a moment");
	run(1000);
	drop_all();
}

static void twice(uint64_t event)
{
	uint32_t ctr = add(hw_counters(), event);

	print("two wraps before a look\n");
	pmu_start(BIT(ctr), -1000UL);
	run(600);
	pmu_stop(BIT(ctr));
	state("one");
	csr_clear(sip, IRQ_LCOFI);
	pmu_start(BIT(ctr), -1000UL);
	run(600);
	state("two");
	csr_set(sie, IRQ_LCOFI);
	run(1000);
	state("taken");
	drop_all();
}

/* Programmable counters of both events, armed by one call, and by two calls. */
static void several(void)
{
	uint32_t a = add(hw_counters(), EVENT_CYCLES);
	uint32_t b = add(hw_counters(), EVENT_INSTRUCTIONS);

	print("two counters\n");
	csr_set(sie, IRQ_LCOFI);
	pmu_start(BIT(a) | BIT(b), -1000UL);
	run(1000);
	state("both at once");
	pmu_stop(BIT(a) | BIT(b));
	pmu_start(BIT(a), -1000UL);
	pmu_start(BIT(b), -501UL);
	run(1000);
	state("one after the other");
	pmu_stop(BIT(a) | BIT(b));
	/* The first one's LCOFI is pending, and OF of the second one is set as well. */
	csr_clear(sie, IRQ_LCOFI);
	pmu_start(BIT(a), -300UL);
	pmu_start(BIT(b), -700UL);
	run(200);
	state("first one");
	run(200);
	state("then both");
	csr_set(sie, IRQ_LCOFI);
	run(10);
	drop_all();
}

/* Counters with the same event and filter, each with its own period. Not every firmware supports
 * that. */
static void shared(uint64_t event)
{
	uint64_t hw = hw_counters();
	uint32_t a = add(hw, event), b = add(hw, event), c = add(hw, event);

	if (!a || !b || !c)
		return;
	print("shared\n");
	csr_set(sie, IRQ_LCOFI);
	pmu_start(BIT(a), -1000UL);
	pmu_start(BIT(b), -700UL);
	pmu_start(BIT(c), -1UL);
	run(1000);
	state("each at its own");
	pmu_stop(used);
	pmu_start(used, -333UL);
	run(1000);
	state("all at once");
	pmu_stop(used);
	/* One is stopped before its wrap, and one starts while the others run. */
	pmu_start(BIT(a), -1000UL);
	pmu_start(BIT(b), -600UL);
	run(200);
	pmu_stop(BIT(b));
	pmu_start(BIT(c), -5UL);
	run(500);
	state("one stopped, one started");
	pmu_start(BIT(b), -2UL);
	run(500);
	state("and it again");
	drop_all();
}

int steps(void)
{
	irq_handle_by(on_overflow);
	masked(EVENT_CYCLES);
	masked(EVENT_INSTRUCTIONS);
	off(EVENT_INSTRUCTIONS);
	twice(EVENT_INSTRUCTIONS);
	several();
	if (bootarg_is("shared", "yes")) {
		shared(EVENT_CYCLES);
		shared(EVENT_INSTRUCTIONS);
	}
	print("steps: ends\n");
	return 0;
}
