/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of a switch of Ethernet frames, which connects the ports of a network. The MACs of its
 * ports are those of the VM tree; it learns none. Constant after boot; any hart may call.
 */
#ifndef CORE_DEVICES_VSWITCH_H
#define CORE_DEVICES_VSWITCH_H

#include <stdbool.h>
#include <stdint.h>

#define VSWITCH_PORTS 16U

#define ETHERNET_MAC    6U    /* bytes of an address */
#define ETHERNET_HEADER 14U   /* destination, source, type */
#define ETHERNET_MAX    1518U /* bytes of a frame with a VLAN tag, without its checksum */

struct vswitch {
	uint32_t n;      /* ports */
	uint32_t uplink; /* which of them is the uplink; VSWITCH_PORTS: none */
	uint64_t macs[VSWITCH_PORTS];
};

/* Returns an address, of its bytes in the order of the line: the first one is the lowest. Inlined,
 * and of halfwords, because each frame has two. */
static inline uint64_t vswitch_mac(const uint16_t halves[ETHERNET_MAC / 2])
{
	return halves[0] | (uint64_t)halves[1] << 16 | (uint64_t)halves[2] << 32;
}

/* Whether a port may send frames with this source: with its own MAC. The uplink may send with all
 * that are no other port's. */
bool vswitch_accepts(const struct vswitch *s, uint32_t from, uint64_t source);

/* Returns a mask of the ports that get a frame of this port. */
uint32_t vswitch_targets(const struct vswitch *s, uint32_t from, uint64_t destination);

#endif
