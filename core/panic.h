/* SPDX-License-Identifier: Apache-2.0 */
/* How the machine ends when Tally cannot go on, and neither a guest nor a user is the cause. */
#ifndef CORE_PANIC_H
#define CORE_PANIC_H

/* An invariant of Tally does not hold. Prints one line on the console and stops the machine. Any
 * hart may call it in any state. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Does the same if the hart, the firmware or the host device tree lacks something that Tally needs,
 * or if it fails. */
_Noreturn void platform_lacks(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
