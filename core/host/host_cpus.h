/* SPDX-License-Identifier: Apache-2.0 */
/* The harts of the host's tree. Pure, like host_tree.h. */
#ifndef CORE_HOST_HOST_CPUS_H
#define CORE_HOST_HOST_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* A node right below /cpus whose device_type is "cpu", with an id in reg (Devicetree Specification
 * 0.4, 3.8). */
struct host_cpu {
	const void *tree;
	int cpus; /* the node /cpus. Negative: the tree has none */
	int node;
	uint64_t hartid;
	bool disabled;
};

/* Before the first hart. */
struct host_cpu host_cpus(const void *tree);

/* Goes to the next hart, in the order of the tree. Returns false if there is none; not to be
 * called again then. */
bool host_cpu_next(struct host_cpu *cpu);

/* Returns why a hart is none of those that are read, the first that are not disabled. NULL: the
 * tree has no hart with this id. */
const char *host_cpu_unread(const void *tree, uint64_t hartid);

/* Returns the phandle of the hart's own interrupt controller, which other controllers name. 0: it
 * has none. */
uint32_t host_cpu_intc(const struct host_cpu *cpu);

/* Returns what host_tree_guest_files() does for the hart with this id. */
uint32_t host_cpu_guest_files(const void *tree, uint64_t hartid);

/* Reads timebase-frequency of /cpus, or of a hart that is not disabled, if it is there: all harts
 * have one clock. *hz: what nodes before have said, or 0. Returns what is wrong with it, or NULL.
 */
const char *host_clock(const void *tree, int node, uint32_t *hz);

/* What a tree lacks: words of boot and of tools/vm-check. */
#define HOST_NO_CPUS  "no /cpus"
#define HOST_NO_CLOCK "no timebase-frequency in /cpus or a hart's node"

#endif
