/* SPDX-License-Identifier: Apache-2.0 */
/* A bare guest's program, and its bootargs. */
#ifndef GUESTS_LIB_GUEST_H
#define GUESTS_LIB_GUEST_H

#include <stdbool.h>
#include <stdint.h>

/* The program. Its return ends the guest: 0 shuts down well, else as a system failure. */
int guest_main(uint64_t hartid);

/* The value of `name=value` on bootargs, ended by a blank or NUL; NULL: not there. */
const char *bootarg(const char *name);
bool bootarg_is(const char *name, const char *value);
/* A decimal number; otherwise as given. */
uint64_t bootarg_num(const char *name, uint64_t otherwise);

/* A property of the device tree's /chosen, and its size; NULL: not there, or empty. */
const void *chosen_property(const char *name, uint32_t *size);

/* Called by entry.S. */
void guest_start(uint64_t hartid, const void *dtb);

#endif
