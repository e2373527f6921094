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
	int cpus; /* the node /cpus; negative if there is none */
	int node;
	uint64_t hartid;
	bool disabled;
};

/* Returns a position before the first hart. */
struct host_cpu host_cpus(const void *tree);

/* Goes to the next hart, in the order of the tree. Returns false if there is none; must not be
 * called again after that. */
bool host_cpu_next(struct host_cpu *cpu);

/* Returns the phandle of the hart's own interrupt controller, to which other controllers refer, or
 * 0 if it has none. */
uint32_t host_cpu_intc(const struct host_cpu *cpu);

/* Reads timebase-frequency of /cpus, or of a hart that is not disabled, if it is there: all harts
 * have one clock. On entry *hz is the value of earlier nodes, or 0. Returns an error in words, or
 * NULL. */
const char *host_clock(const void *tree, int node, uint32_t *hz);

/* Errors of a tree, in the words of boot and of tools/vm-check. */
#define HOST_NO_CPUS  "no /cpus"
#define HOST_NO_CLOCK "no timebase-frequency in /cpus or a hart's node"

#endif
