/* SPDX-License-Identifier: Apache-2.0 */
/* Guests with ports of networks: what is in a VM's memory, and what is known of its frames. */
#ifndef MACHINE_GUEST_PORTS_H
#define MACHINE_GUEST_PORTS_H

#include "core/io/ports_parts.h"
#include "tests/host/machine/model.h"

/* In a VM's memory, behind its words: both queues, and their buffers. */
#define AT        (MODEL_WINDOW + 0x10000UL)
#define QUEUE     0x8000UL
#define AVAILABLE 0x1000UL
#define USED      0x2000UL
#define BUFFERS   0x4000UL
#define SLOTS     8U
#define SLOT      0x100UL

#define EVERYBODY VM_MAX_VMS /* as receiver */

struct descriptor {
	uint64_t at;
	uint32_t size;
	uint16_t flags, next;
};

/* The available ring; and the used ring. */
struct available {
	uint16_t flags, n, heads[SLOTS];
};

struct used {
	uint16_t flags, n;
	struct {
		uint32_t head, size;
	} entries[SLOTS];
};

struct content {
	uint8_t header[PORT_HEADER];
	uint8_t to[ETHERNET_MAC], from[ETHERNET_MAC];
	uint8_t type[2], sender, receiver;
	uint32_t number; /* of the frames of that sender, from 1 on */
	uint64_t life;
	uint8_t more[20];
} __attribute__((packed));

/* Frames that were given to a device, and those that it is known to have done with. */
struct known {
	uint64_t posted, done;
};

extern struct station {
	uint64_t life;
	uint16_t looked, counted; /* used buffers that were looked at: of frames, and of its own */
	uint16_t heard;           /* those that came before it read the ISR */
	bool reads_isr;
	uint32_t given; /* bits of its buffers that the device has */
	uint32_t number;
	uint32_t last[VM_MAX_VMS];    /* numbers of the last frames of others */
	uint8_t sent_to[SLOTS];       /* a VM, or EVERYBODY */
	bool forged[SLOTS];           /* as another VM: nobody may get it */
	struct model_due told;        /* that a frame has come */
	uint64_t good, bad, received; /* in this life, from used rings */
	/* Frames to it: by now, before this life, and at its last look. */
	struct known known, before;
	uint64_t done;
} stations[VM_MAX_VMS];

static inline uint8_t *port_memory(const struct vm *vm, uint32_t queue, uint64_t offset)
{
	return (uint8_t *)vm->memory.a + AT + queue * QUEUE + offset;
}

static inline uint16_t port_used(const struct vm *vm, uint32_t queue)
{
	return ((const struct used *)port_memory(vm, queue, USED))->n;
}

static inline const uint8_t *port_mac(uint32_t vm)
{
	return vms[vm].config->ports[0].mac;
}

/* model_ports.c: frames for a VM, or EVERYBODY, were given to a device, or it has done with them */
void model_frames(const struct vm *from, uint32_t to, uint64_t posted, uint64_t done);
/* A frame that came. */
void model_frame(const struct vcpu *vcpu, struct station *s, const struct content *c);
/* Its used rings have just been looked at; and it is looked at for the first time in this life. */
void model_port(const struct vcpu *vcpu, struct station *s);
void model_port_begins(const struct vcpu *vcpu, struct station *s);

#endif
