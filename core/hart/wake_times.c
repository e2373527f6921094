/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/wake_times.h"

void wake_times_init(struct wake_times *wake)
{
	for (uint32_t i = 0; i < 2 * WAKE_LEAVES; i++)
		wake->at[i] = ~UINT64_C(0);
}

void wake_times_set(struct wake_times *wake, uint32_t i, uint64_t at)
{
	uint64_t node = WAKE_LEAVES + i;
	uint64_t *here = &wake->at[node];

	/* If a node does not change, neither do those above it. */
	while (*here != at) {
		/* The other child of its parent. Not wake->at[node ^ 1], which takes twice as many
		 * instructions. */
		const uint64_t *other = (uint64_t *)((uintptr_t)here ^ sizeof(*here));

		*here = at;
		if (node == 1)
			return;
		if (*other < at)
			at = *other;
		node /= 2;
		here = &wake->at[node];
	}
}

uint32_t wake_times_who(const struct wake_times *wake)
{
	uint64_t node = 1;

	while (node < WAKE_LEAVES) {
		node *= 2;
		node += wake->at[node] != wake->at[1];
	}
	return (uint32_t)(node - WAKE_LEAVES);
}
