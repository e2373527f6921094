/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about ports of networks share. */
#ifndef CORE_IO_PORTS_PARTS_H
#define CORE_IO_PORTS_PARTS_H

#include <stdatomic.h>

#include "arch/riscv/hart/spinlock.h"
#include "core/devices/vswitch.h"
#include "core/io/ports.h"
#include "core/io/virtio_pci.h"
#include "core/io/virtqueue.h"
#include "core/vcpu/vm.h"

enum { PORT_RECEIVES, PORT_SENDS, PORT_QUEUES };

/* Constant after boot. */
struct network {
	const char *name;
	struct vswitch switches;
	struct port *ports[VSWITCH_PORTS];
};

/*
 * A queue while the driver has it set up. Harts that use it (`users`) hold no lock meanwhile, and
 * wait for nothing before they are done; who stops it waits for them.
 */
struct port_queue {
	struct virtqueue ring;
	bool started; /* the driver has it set up; written with the lock of the VM's devices */
	/* That, and it was not malformed. Written with the port's lock; the hart that sends looks
	 * at it without. */
	atomic_bool live;
	bool malformed; /* found by a hart that could not tell the driver yet */
	uint32_t users;
};

/*
 * What a port may send, if the VM tree limits that. A period begins with a frame that is sent when
 * the last one is over. Only for the user of the queue that sends.
 */
struct port_limit {
	uint64_t period;        /* ticks; 0: there is no limit. Constant after boot */
	uint64_t begun;         /* when this period began, in the machine's time */
	uint32_t frames, bytes; /* sent in it */
};

struct port {
	struct virtio_pci device; /* comes first */
	/* Constant after boot. */
	const struct vm_port *config;
	struct network *network;
	uint32_t number; /* in the network */
	/* The operator has pulled its cable. Written with the lock of the VM's devices, read by any
	 * hart. */
	bool down;
	/* Protects the members below; an inner lock of any VM's devices. The one user of the queue
	 * that sends owns its ring, `reached`, `admitted` and `limit`. */
	struct spinlock lock;
	struct port_queue queues[PORT_QUEUES];
	/* Of the frame at the queue's beginning: it was offered to ports below this; and its bytes
	 * when they were counted for the limit, or 0. Lives do not change the limit. */
	uint32_t reached, admitted;
	struct port_limit limit;
	struct port_counts counts;
};

static inline bool port_down(const struct port *p)
{
	return __atomic_load_n(&p->down, __ATOMIC_RELAXED);
}

/* Sends frames for one stay. Returns false if there may be more. The caller holds no lock. */
bool port_send(struct port *p);

#endif
