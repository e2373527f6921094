/* SPDX-License-Identifier: Apache-2.0 */
/* How the machine ends when it cannot go on: by no doing of a guest or a user. */
#ifndef CORE_PANIC_H
#define CORE_PANIC_H

/* An invariant of Tally's own is broken. Prints one line on the console and stops the machine. Any
 * hart, any state. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same where the hart, the firmware or the host tree lacks or fails what Tally cannot do
 * without. */
_Noreturn void platform_lacks(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
