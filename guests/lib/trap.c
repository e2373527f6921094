/* SPDX-License-Identifier: Apache-2.0 */
/* How the guest handles a trap. */
#include "guests/lib/trap.h"
#include "guests/lib/csr.h"
#include "guests/lib/print.h"
#include "guests/lib/sbi.h"

static bool guarded;
static struct trap_seen seen;
static irq_handler_t irq_handler;

void trap_guard(void)
{
	seen = (struct trap_seen){.cause = ~0UL};
	guarded = true;
}

struct trap_seen trap_unguard(void)
{
	guarded = false;
	return seen;
}

void irq_handle_by(irq_handler_t handler)
{
	irq_handler = handler;
}

/* No page of a bare guest is protected, so the instruction can be read directly. */
static uint64_t insn_length(uint64_t pc)
{
	return (*(const volatile uint16_t *)pc & 3) == 3 ? 4 : 2;
}

void trap_handle(struct trap_frame *frame)
{
	uint64_t cause = frame->cause;

	if (cause & CAUSE_IRQ) {
		if (irq_handler)
			irq_handler(frame);
		else
			csr_clear(sie, 1UL << (cause & 63));
		return;
	}
	if (cause == CAUSE_ECALL_U)
		user_leave(frame->x[10]);
	if (guarded) {
		seen.cause = cause;
		seen.tval = frame->tval;
		seen.pc = frame->pc;
		seen.count++;
		/* 0, 1, 12: misaligned fetch, fetch access or page fault. There is no instruction
		 * to skip. */
		frame->pc =
		    cause <= 1 || cause == 12 ? frame->x[1] : frame->pc + insn_length(frame->pc);
		return;
	}
	print("guest: unexpected trap: cause 0x%x, sepc 0x%x, stval 0x%x\n", cause, frame->pc,
	      frame->tval);
	sbi_shutdown(SBI_SRST_REASON_SYSFAIL);
}
