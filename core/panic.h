/* SPDX-License-Identifier: Apache-2.0 */
/* For Tally's own broken invariants only, never for anything that a guest or a user can do. */
#ifndef CORE_PANIC_H
#define CORE_PANIC_H

/* Prints one line on the console and stops the machine. Any hart, any state. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
