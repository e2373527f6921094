/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simple case of overflow: a running counter wraps, the interrupt comes once, at the exact
 * instruction, and the guest's own stop and start arm it again.
 */
#include "guests/selftest/selftest.h"

#include "guests/lib/csr.h"
#include "guests/lib/print.h"
#include "guests/lib/trap.h"

/* count.S */
void ovf_run(uint64_t mask, uint64_t value, uint64_t limit);
void ovf_loop(void);
void ovf_end(void);

static bool have_scountovf;

static struct {
	unsigned count;
	uint64_t cause, executed, scountovf, sip, sip_after;
} irq;

/* Returns OF of the counters; none if they cannot be read, which is a case of its own. */
static uint64_t scountovf(void)
{
	return have_scountovf ? csr_read(CSR_SCOUNTOVF) : 0;
}

/* t3 (x28) is the round of the loop. One instruction comes before the loop. */
static void on_irq(struct trap_frame *f)
{
	irq.count++;
	irq.cause = f->cause;
	irq.executed = f->pc == (uint64_t)ovf_loop ? 1 + 2 * f->x[28] : 2 * f->x[28];
	if (f->pc < (uint64_t)ovf_loop || f->pc >= (uint64_t)ovf_end)
		irq.executed = 0;
	irq.scountovf = scountovf();
	irq.sip = csr_read(sip);
	csr_clear(sip, IRQ_LCOFI);
	irq.sip_after = csr_read(sip);
}

/* Starts the counter `period` counts before its wrap, and runs far beyond it. */
static void run(uint32_t ctr, uint64_t period)
{
	irq.count = 0;
	irq.executed = 0;
	irq_handle_by(on_irq);
	csr_set(sie, IRQ_LCOFI);
	ovf_run(BIT(ctr), -period, 50000);
	csr_clear(sie, IRQ_LCOFI);
	irq_handle_by(NULL);
	print("overflow of counter %u after %u: %u interrupts", (uint64_t)ctr, period,
	      (uint64_t)irq.count);
	print(", after %u instructions\n", irq.executed);
}

/*
 * After certain start values, which the parts before may have used, the machine loses an overflow.
 * This makes it do so here: until an interrupt has come, and one more, because a firmware may make
 * such a start itself when it handles one.
 */
static void settle(uint32_t ctr)
{
	for (int i = 0; i < 3; i++) {
		run(ctr, 500);
		pmu_stop(BIT(ctr));
		if (irq.count)
			break;
	}
	run(ctr, 500);
	pmu_stop(BIT(ctr));
}

/* Reports a case about scountovf. */
static void report_flags(bool ok, const char *name)
{
	if (have_scountovf)
		report(ok, "Sscofpmf", name);
	else
		report_skip("Sscofpmf", name, "scountovf cannot be read");
}

static void check(uint32_t ctr, uint64_t period, const char *once, const char *exact)
{
	run(ctr, period);
	report(irq.count == 1 && irq.cause == CAUSE_LCOFI, "Sscofpmf", once);
	report_eq(irq.executed, period, "Sscofpmf", exact);
}

static void one_event(uint64_t event, const char *const names[11])
{
	int idx = config_any(event, 0, "11.8", "config_matching: for overflow");
	uint32_t ctr = (uint32_t)idx;

	if (idx < 0)
		return;
	settle(ctr);
	check(ctr, 1000, names[0], names[1]);
	report_flags(irq.scountovf & BIT(ctr), names[2]);
	report_flags(!(irq.scountovf & ~BIT(ctr)), names[3]);
	report((irq.sip & IRQ_LCOFI) && !(irq.sip_after & IRQ_LCOFI), "Sscofpmf", names[4]);
	report_flags(scountovf() & BIT(ctr), names[5]);
	pmu_stop(BIT(ctr));
	check(ctr, 777, names[6], names[7]);
	pmu_stop(BIT(ctr));
	/* The value of a generic "longest period" causes no overflow, and the next start is
	 * right. */
	pmu_start(BIT(ctr), 0x8000000000000001UL);
	report_flags(!(scountovf() & BIT(ctr)), names[8]);
	pmu_stop(BIT(ctr));
	check(ctr, 1234, names[9], names[10]);
	pmu_stop(BIT(ctr));
	reset_all();
}

/* The interrupt stays pending while sie or sstatus mask it, and comes when they do not. */
static void masked(void)
{
	int idx = config_any(EVENT_INSTRUCTIONS, 0, "11.8", "config_matching: for overflow");
	uint32_t ctr = (uint32_t)idx;

	if (idx < 0)
		return;
	irq.count = 0;
	irq_handle_by(on_irq);
	csr_set(sie, IRQ_LCOFI);
	pmu_start(BIT(ctr), -1000UL);
	for (int i = 0; i < 10000; i++)
		nop();
	report(irq.count == 0 && (csr_read(sip) & IRQ_LCOFI), "Sscofpmf",
	       "interrupts off: it pends");
	csr_set(sstatus, SSTATUS_SIE);
	nop();
	csr_clear(sstatus, SSTATUS_SIE);
	report(irq.count == 1 && irq.cause == CAUSE_LCOFI, "Sscofpmf",
	       "interrupts on: it comes, once");
	csr_clear(sie, IRQ_LCOFI);
	irq_handle_by(NULL);
	reset_all();
}

/* Sscofpmf may be missing, but only as a whole: sie.13 and scountovf belong together. */
void test_overflow(void)
{
	static const char *const cycles[11] = {
	    "cycles: one interrupt",
	    "cycles: at the exact instruction",
	    "cycles: scountovf shows the counter",
	    "cycles: scountovf shows no other",
	    "cycles: the guest clears sip itself",
	    "cycles: OF stays until the next start",
	    "cycles: stop and start arm it again",
	    "cycles: the second time exact, too",
	    "cycles: after a far start OF is clear",
	    "cycles: after a far start, one interrupt",
	    "cycles: after a far start, exact",
	};
	static const char *const instructions[11] = {
	    "instructions: one interrupt",
	    "instructions: at the exact instruction",
	    "instructions: scountovf shows the counter",
	    "instructions: scountovf shows no other",
	    "instructions: the guest clears sip itself",
	    "instructions: OF stays until the next start",
	    "instructions: stop and start arm it again",
	    "instructions: the second time exact, too",
	    "instructions: after a far start OF is clear",
	    "instructions: after a far start, one interrupt",
	    "instructions: after a far start, exact",
	};

	if (!fw.lcofi) {
		report_skip("Sscofpmf", "overflow", "sie bit 13 cannot be set");
		return;
	}
	csr_clear(sip, IRQ_LCOFI);
	trap_guard();
	csr_read(CSR_SCOUNTOVF);
	have_scountovf = trap_unguard().count == 0;
	report(have_scountovf, "Sscofpmf", "scountovf is readable");
	one_event(EVENT_CYCLES, cycles);
	one_event(EVENT_INSTRUCTIONS, instructions);
	masked();
}
