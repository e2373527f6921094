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

/* Reads the device tree's n-th node of memory. Returns false if there are not so many. */
bool memory_node(uint32_t n, uint64_t *base, uint64_t *size);

/* Memory that other VMs have too. */
struct shared_memory {
	const char *name;
	uint64_t base, size;
	bool writable;
};

/* Reads the device tree's n-th node of shared memory. Returns false if there are not so many. */
bool shared_node(uint32_t n, struct shared_memory *shared);

/* Whether the device tree has this string, as of riscv,isa-extensions, anywhere. */
bool tree_has(const char *word);

/* Called by entry.S. */
void guest_start(uint64_t hartid, const void *dtb);

#endif
