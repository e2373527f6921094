/* SPDX-License-Identifier: Apache-2.0 */
/* Switching the machine off, and panics. */
#ifndef CORE_PANIC_H
#define CORE_PANIC_H

#include <stdatomic.h>
#include <stdint.h>

/* Switches the machine off (SBI 3.0 chapter 10); reason: SBI_SRST_REASON_*. If the firmware cannot,
 * prints a line that says so, and stops all harts. Any hart may call it. */
_Noreturn void machine_off(uint64_t reason);

/* The machine has stopped but is still on: a hart that gets an IPI sleeps for ever. */
extern atomic_bool machine_stopped;
_Noreturn void machine_rest(void);

/* For errors after which Tally cannot go on, and that neither a guest nor a user has caused. */

/* An invariant of Tally does not hold. Prints one line on the console and stops the machine. Any
 * hart may call it in any state. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, if the hart, the firmware or the host device tree lacks something that Tally needs, or
 * if such a thing fails. */
_Noreturn void platform_lacks(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
