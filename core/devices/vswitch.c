/* SPDX-License-Identifier: Apache-2.0 */
#include "core/devices/vswitch.h"

#define GROUP UINT64_C(1) /* of a MAC: several stations */

/* 01:80:c2:00:00:0x, which no bridge passes on (IEEE 802.1Q, 8.6.3). */
#define RESERVED      UINT64_C(0x000000c28001)
#define RESERVED_MASK UINT64_C(0xf0ffffffffff)

/* Returns the port with this MAC; s->n: none. */
static uint32_t port_of(const struct vswitch *s, uint64_t mac)
{
	uint32_t i = 0;

	while (i < s->n && s->macs[i] != mac)
		i++;
	return i;
}

bool vswitch_accepts(const struct vswitch *s, uint32_t from, uint64_t source)
{
	if (source == s->macs[from])
		return true;
	return from == s->uplink && !(source & GROUP) && port_of(s, source) == s->n;
}

uint32_t vswitch_targets(const struct vswitch *s, uint32_t from, uint64_t destination)
{
	uint32_t all = (1U << s->n) - 1, to;

	if ((destination & RESERVED_MASK) == RESERVED)
		return 0;
	if (destination & GROUP)
		return all & ~(1U << from);
	to = port_of(s, destination);
	if (to == s->n)
		to = s->uplink;
	return all & 1U << to & ~(1U << from);
}
