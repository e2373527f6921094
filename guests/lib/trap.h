/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of a bare guest. Without a guard, an exception ends the guest with one line. */
#ifndef GUESTS_LIB_TRAP_H
#define GUESTS_LIB_TRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guests/lib/frame.h"

struct trap_frame {
	uint64_t x[32];
	uint64_t pc;
	uint64_t status;
	uint64_t cause;
	uint64_t tval;
};
_Static_assert(sizeof(struct trap_frame) == FRAME_SIZE, "frame.h");

/* What happened under a guard. cause is that of the last exception, all ones if there was none. */
struct trap_seen {
	uint64_t cause;
	uint64_t tval;
	uint64_t pc;
	unsigned long count;
};

/*
 * Between these, an exception is recorded and its instruction skipped. A fetch that faults returns
 * to the caller of the code that jumped (ra). Guards do not nest.
 */
void trap_guard(void);
struct trap_seen trap_unguard(void);

/* Called for every interrupt. NULL: the interrupt is disabled in sie and otherwise ignored. */
typedef void (*irq_handler_t)(struct trap_frame *frame);
void irq_handle_by(irq_handler_t handler);

/* trap.S */
void trap_entry(void);
uint64_t user_run(void (*entry)(void), uint64_t a0, uint64_t a1);
void user_leave(uint64_t a0) __attribute__((noreturn));

/* Called by trap.S. */
void trap_handle(struct trap_frame *frame);

#endif
