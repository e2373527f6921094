/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes `samples=` samples, one every `period=` instructions of U, and checks that each is from its
 * own counter, one period after the last, and that nothing else is pending. ticks=: also takes
 * timer interrupts at this interval, none of which may come before a sample that is due.
 */
#include "guests/sampling/sampling.h"

#define ROUNDS 1000000UL

static uint32_t ctr;
static uint64_t period, wanted, taken, wrong, ticks, timers;
/* Instructions of U at the beginning of the period, in this run; may be < 0. */
static uint64_t since;

static void on_overflow(struct trap_frame *f)
{
	uint64_t now = user_position(f, ROUNDS);

	if (f->cause == CAUSE_TIMER) {
		wrong += !!(csr_read(sip) & IRQ_LCOFI);
		timers++;
		/* So that it does not coincide with the samples. */
		csr_write(CSR_STIMECMP, csr_read(time) + ticks + timers % 61);
		return;
	}
	taken++;
	/* With the snapshot, the kernel would not read scountovf. */
	wrong += f->cause != CAUSE_LCOFI || now - since != period ||
	         own_flags(csr_read(CSR_SCOUNTOVF), BIT(ctr)) != BIT(ctr) || counter_read(ctr);
	since = now;
	pmu_stop(BIT(ctr));
	csr_clear(sip, IRQ_LCOFI);
	if (taken < wanted)
		pmu_start(BIT(ctr), -period);
	wrong += !!(csr_read(sip) & IRQ_LCOFI);
}

int rate(void)
{
	wanted = bootarg_num("samples", 1000);
	period = bootarg_num("period", 1000);
	ctr = configure(hw_counters(), SINH,
	                bootarg_is("event", "cycles") ? EVENT_CYCLES : EVENT_INSTRUCTIONS);
	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	ticks = bootarg_num("ticks", 0);
	if (ticks) {
		csr_write(CSR_STIMECMP, csr_read(time) + ticks);
		csr_set(sie, IRQ_TIMER);
	}
	pmu_start(BIT(ctr), -period);
	while (taken < wanted) {
		user_run(user_code, ROUNDS, 0);
		/* Subtract those of a run and its ecall. */
		since -= 2 * ROUNDS + 1;
	}
	/* For as long again: no further interrupt may come. */
	user_run(user_code, ROUNDS, 0);
	csr_clear(sie, IRQ_TIMER);
	print("rate: ends, %u samples, %u wrong\n", taken, wrong);
	if (ticks)
		print("rate: %u timer interrupts\n", timers);
	return wrong || taken != wanted;
}
