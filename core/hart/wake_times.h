/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time at which each vcpu of a hart is to be woken, in host time; ~0: never. The times form a
 * tournament tree: each node holds the earlier of its two children. So the cost of a change, and of
 * finding the earliest, does not depend on the number of blocked vcpus.
 */
#ifndef CORE_HART_WAKE_TIMES_H
#define CORE_HART_WAKE_TIMES_H

#include <stdint.h>

#define WAKE_LEAVES 64U /* maximum number of vcpus */

struct wake_times {
	/* [1]: the earliest; [WAKE_LEAVES + i]: vcpu i. Aligned, so that the addresses of two
	 * children differ in one bit. */
	_Alignas(16) uint64_t at[2 * WAKE_LEAVES];
};

void wake_times_init(struct wake_times *wake);
void wake_times_set(struct wake_times *wake, uint32_t i, uint64_t at);

static inline uint64_t wake_times_earliest(const struct wake_times *wake)
{
	return wake->at[1];
}

/* Returns the vcpu whose time is the earliest. There must be one. */
uint32_t wake_times_who(const struct wake_times *wake);

#endif
