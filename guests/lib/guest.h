/* SPDX-License-Identifier: Apache-2.0 */
/* A bare guest's program, and its bootargs. */
#ifndef GUESTS_LIB_GUEST_H
#define GUESTS_LIB_GUEST_H

#include <stdbool.h>
#include <stdint.h>

/* The program. When it returns the guest ends: 0 is a normal shutdown, otherwise a system
 * failure. */
int guest_main(uint64_t hartid);

/* Returns the value of `name=value` on bootargs, which ends with a space or NUL. NULL: not
 * there. */
const char *bootarg(const char *name);
bool bootarg_is(const char *name, const char *value);
/* Returns it as a decimal number, or `otherwise` if it is not there. */
uint64_t bootarg_num(const char *name, uint64_t otherwise);

/* Returns a property of /chosen in the device tree, and its size. NULL: not there, or empty. */
const void *chosen_property(const char *name, uint32_t *size);

/* Called by entry.S. */
void guest_start(uint64_t hartid, const void *dtb);

#endif
