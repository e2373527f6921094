/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/vm-check knows of the host, and prints of the devices that VMs get of it. */
#ifndef TOOLS_VM_CHECK_HOST_H
#define TOOLS_VM_CHECK_HOST_H

#include <stddef.h>

#include "core/host/host_cpus.h"
#include "core/host/vm_config.h"

/* A hart as its node says. */
struct host_hart {
	uint64_t id;
	uint64_t isa;                    /* extensions, as in arch/riscv/hart/isa.h */
	uint32_t zicbom, zicboz, zicbop; /* sizes of blocks in bytes; 0: none is given */
	bool disabled;
};

/* Returns why a file of `size` bytes is no host's device tree. NULL: it is one. */
const char *host_is_wrong(const void *tree, size_t size);

/* Returns why Tally does not run on the harts of such a tree, in boot's words until the next call.
 * NULL: it does. */
const char *host_lacks(const void *tree);

/* Returns what boot says of the console's input if there is none. NULL: there is. */
const char *host_input_lacks(const void *tree);

/* Goes to the node of the next hart. Returns false if there is none. */
bool host_hart_next(struct host_cpu *cpu, struct host_hart *hart);

/* The harts of a host's tree that can run guests, by ascending ids. None: it is empty. */
struct vm_harts host_harts(const void *tree);

/* Returns a hart's extensions, as in arch/riscv/hart/isa.h. 0: the tree has no such hart that can
 * run guests. */
uint64_t host_isa(const void *tree, uint32_t hartid);

/* Prints a VM's devices as lines, or as JSON's array. tree is the host's, or NULL. */
void print_devices(const struct vm_config *vm, const void *tree);
void print_json_devices(const struct vm_config *vm, const void *tree);

#endif
