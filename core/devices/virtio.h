/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the common configuration of a virtio device: its status, features and queues, as on a
 * PCI function (VIRTIO 1.2, 4.1.4.3); virtio-MMIO has it by other offsets. Queues are split. There
 * is no legacy interface. The caller of each function holds the lock of the VM's devices; any hart
 * may call.
 */
#ifndef CORE_DEVICES_VIRTIO_H
#define CORE_DEVICES_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>

#define VIRTIO_MAX_QUEUES 2U
#define VIRTIO_NO_VECTOR  0xffffU /* of MSI-X: no message is sent */

#define VIRTIO_DRIVER_OK   0x04U /* bits of the status */
#define VIRTIO_FEATURES_OK 0x08U
#define VIRTIO_NEEDS_RESET 0x40U

#define VIRTIO_F_INDIRECT_DESC (UINT64_C(1) << 28)
#define VIRTIO_F_EVENT_IDX     (UINT64_C(1) << 29)
#define VIRTIO_F_VERSION_1     (UINT64_C(1) << 32)

enum { VIRTIO_DESCRIPTORS, VIRTIO_AVAILABLE, VIRTIO_USED, VIRTIO_AREAS };

struct virtio_queue {
	union {
		uint64_t areas[VIRTIO_AREAS]; /* guest physical */
		uint32_t halves[2 * VIRTIO_AREAS];
	};
	uint16_t size;
	bool enabled;
	/* The next entry of the available ring, and of the used ring, modulo 2^16. */
	uint16_t next, used;
	uint16_t vector; /* of MSI-X: below n_vectors, or VIRTIO_NO_VECTOR */
};

struct virtio {
	/* Constant after boot. */
	union {
		uint64_t offered; /* features */
		uint32_t offered_halves[2];
	};
	uint64_t needed; /* those without which the device does not agree */
	uint16_t n_queues;
	uint16_t queue_size; /* at most; a driver may choose a lower power of two */
	uint16_t n_vectors;  /* of MSI-X; 0: the device has none */
	/* The rest is set by virtio_reset(). */
	union {
		uint64_t accepted;
		uint32_t accepted_halves[2];
	};
	uint32_t offered_word, accepted_word; /* which 32 features the registers have */
	uint16_t queue;                       /* which queue they have */
	uint16_t config_vector;               /* as those of the queues */
	uint8_t status;
	bool disagreed;     /* the driver's features were not enough */
	uint8_t generation; /* of the device's configuration: another one after each change */
	struct virtio_queue queues[VIRTIO_MAX_QUEUES];
};

void virtio_reset(struct virtio *v);

/* Whether the driver has set the device up, and nothing has failed since. */
bool virtio_is_live(const struct virtio *v);

/* The driver stops the queue that the registers have, and may set it up anew: so it can only by
 * virtio-MMIO, without a reset of the device. */
void virtio_stop_queue(struct virtio *v);

/* Returns the offset here of a register of virtio-MMIO (VIRTIO 1.2, 4.2.2), at a multiple of 4
 * below 0x100. If there is none, the offset of no register. */
uint32_t virtio_mmio_offset(uint32_t offset);

/* Accesses of the driver, of the width of the register at this offset, and of 32 bits where it has
 * 64. Elsewhere reads return 0 and writes are ignored, as are values that the driver must not
 * write. */
uint32_t virtio_read(const struct virtio *v, uint32_t offset);
void virtio_write(struct virtio *v, uint32_t offset, uint32_t value);

#endif
