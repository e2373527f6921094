/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When each vcpu of a hart wants to be woken, ~0: never. A tournament: a node holds the earlier of
 * its two children, so that a change and a look at the earliest cost the same however many sleep.
 */
#ifndef CORE_VM_WAKE_TIMES_H
#define CORE_VM_WAKE_TIMES_H

#include <stdint.h>

#define WAKE_LEAVES 64U /* vcpus of a hart */

struct wake_times {
	uint64_t at[2 * WAKE_LEAVES]; /* [1]: of all; [WAKE_LEAVES + i]: of vcpu i */
};

void wake_times_init(struct wake_times *wake);
void wake_times_set(struct wake_times *wake, uint32_t i, uint64_t at);

static inline uint64_t wake_times_earliest(const struct wake_times *wake)
{
	return wake->at[1];
}

/* Who it is. There is one. */
uint32_t wake_times_who(const struct wake_times *wake);

#endif
