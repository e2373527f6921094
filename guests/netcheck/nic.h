/* SPDX-License-Identifier: Apache-2.0 */
/* A driver for virtio network devices on PCI, in the words of VIRTIO 1.2 (4.1, 2.7, 5.1). */
#ifndef NETCHECK_NIC_H
#define NETCHECK_NIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Offsets in configuration space, and bits of its registers. */
#define PCI_COMMAND      0x04U
#define PCI_STATUS       0x06U
#define PCI_BAR          0x10U
#define PCI_CAPABILITIES 0x34U
#define PCI_MEMORY       2U
#define PCI_MASTER       4U
#define PCI_NO_INTX      0x400U
#define PCI_INTX         8U /* of the status */

/* Kinds of structures (4.1.4). */
enum { COMMON_CFG = 1, NOTIFY_CFG, ISR_CFG, DEVICE_CFG, PCI_CFG, STRUCTURES };

/* The common configuration (4.1.4.3). */
enum {
	DEVICE_FEATURE_SELECT = 0x00,
	DEVICE_FEATURE = 0x04,
	DRIVER_FEATURE_SELECT = 0x08,
	DRIVER_FEATURE = 0x0c,
	CONFIG_MSIX_VECTOR = 0x10,
	NUM_QUEUES = 0x12,
	DEVICE_STATUS = 0x14,
	CONFIG_GENERATION = 0x15,
	QUEUE_SELECT = 0x16,
	QUEUE_SIZE = 0x18,
	QUEUE_MSIX_VECTOR = 0x1a,
	QUEUE_ENABLE = 0x1c,
	QUEUE_NOTIFY_OFF = 0x1e,
	QUEUE_DESC = 0x20,
	QUEUE_DRIVER = 0x28,
	QUEUE_DEVICE = 0x30,
};

#define ACKNOWLEDGE 1U /* the device status (2.1) */
#define DRIVER      2U
#define DRIVER_OK   4U
#define FEATURES_OK 8U
#define NEEDS_RESET 0x40U
#define FAILED      0x80U
#define SET_UP      (ACKNOWLEDGE | DRIVER | FEATURES_OK)

#define F(bit)          (UINT64_C(1) << (bit))
#define F_MTU           F(3)
#define F_MAC           F(5)
#define F_STATUS        F(16)
#define F_CTRL_VQ       F(17)
#define F_INDIRECT_DESC F(28)
#define F_EVENT_IDX     F(29)
#define F_VERSION_1     F(32)

#define NEXT     1U /* flags of descriptors */
#define WRITE    2U
#define INDIRECT 4U

#define NO_VECTOR 0xffffU
#define HEADER    12U /* struct virtio_net_hdr */
#define SLOTS     64U /* buffers of a queue that are here */
#define ROOM      2048U
#define MOST      1024U /* entries of a queue that there is memory for */
#define MAC       6U

enum { RECEIVES, SENDS, QUEUES };

struct descriptor {
	uint64_t addr;
	uint32_t len;
	uint16_t flags, next;
};

struct used {
	uint32_t id, len;
};

struct queue {
	struct descriptor *desc;
	volatile uint16_t *avail; /* flags, idx, ring, used_event */
	volatile uint16_t *used;  /* flags, idx, entries of 4 each, avail_event */
	uint8_t (*buffers)[ROOM]; /* SLOTS of them */
	uint16_t size;
	uint16_t next; /* buffers offered */
	uint16_t seen; /* buffers got back */
};

/* The first one of a kind that the device presents. */
struct structure {
	uint32_t count, cap, bar, offset, length;
	uint64_t at; /* an address; 0: in no BAR that is memory */
};

struct nic {
	uint64_t page; /* configuration space */
	uint64_t common, notify, isr, config;
	uint32_t multiplier;
	uint64_t bars[6];
	struct structure structures[STRUCTURES];
	uint8_t mac[MAC];
	struct queue queues[QUEUES];
};

static inline uint32_t in32(uint64_t at)
{
	return *(volatile uint32_t *)at;
}

static inline uint16_t in16(uint64_t at)
{
	return *(volatile uint16_t *)at;
}

static inline uint8_t in8(uint64_t at)
{
	return *(volatile uint8_t *)at;
}

static inline void out32(uint64_t at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

static inline void out16(uint64_t at, uint16_t value)
{
	*(volatile uint16_t *)at = value;
}

static inline void out8(uint64_t at, uint8_t value)
{
	*(volatile uint8_t *)at = value;
}

static inline void fence(void)
{
	__asm__ volatile("fence" ::: "memory");
}

/* Finds the n-th device, gives its BARs addresses if it has none, and finds its structures. Returns
 * false if there are not so many. `number`, 0 or 1, chooses the memory of its queues. */
bool nic_find(struct nic *n, uint32_t number);

uint8_t nic_status(const struct nic *n);
void nic_set_status(const struct nic *n, uint32_t status);
/* Returns whether the status became 0. */
bool nic_reset(const struct nic *n);
/* Of 64 bits, by their two halves. */
uint64_t nic_offered(const struct nic *n);
uint64_t nic_accepted(const struct nic *n);
void nic_accept(const struct nic *n, uint64_t features);

/* Resets the device and accepts these features. Returns whether the device does. */
bool nic_agree(const struct nic *n, uint64_t features);
void nic_select(const struct nic *n, uint32_t queue);
/* Clears a queue of this size, and tells the device of it. */
void nic_set_queue(struct nic *n, uint32_t queue, uint32_t size);
/* All of these with queues of this size, these features and VERSION_1, and buffers to receive, as
 * many as there may be; to DRIVER_OK. */
bool nic_start(struct nic *n, uint64_t features, uint32_t size);

/* Descriptor i of the queue. */
void nic_describe(struct nic *n, uint32_t queue, uint32_t i, const void *at, uint32_t len,
                  uint32_t flags, uint32_t next);
/* Makes the chain that begins there available, and notifies the device if it is to receive.
 * nic_kick() notifies the device. */
void nic_offer(struct nic *n, uint32_t queue, uint32_t head);
void nic_kick(const struct nic *n, uint32_t queue);

/* Entries of the used ring that were not taken. */
uint16_t nic_waiting(const struct nic *n, uint32_t queue);
/* Waits until there are so many, for a limited time. Returns whether there are. */
bool nic_await(const struct nic *n, uint32_t queue, uint32_t count);
/* Takes the next entry of the used ring, which there is. */
struct used nic_take(struct nic *n, uint32_t queue);
/* The words behind the rings. */
volatile uint16_t *nic_used_event(const struct nic *n, uint32_t queue);
volatile uint16_t *nic_avail_event(const struct nic *n, uint32_t queue);

/* A frame to all, with this number, in a buffer of the queue that sends; returns the buffer, which
 * begins with the header. */
uint8_t *nic_frame(struct nic *n, uint32_t slot, uint32_t number, uint32_t size);
/* The same to a MAC that nobody has. */
uint8_t *nic_frame_away(struct nic *n, uint32_t slot, uint32_t size);
/* Whether a received buffer of so many bytes is the answer to that frame: another station has sent
 * it back. */
bool nic_is_answer(const struct nic *n, const uint8_t *at, uint32_t len, uint32_t number,
                   uint32_t size);
/* Sends a frame in one descriptor, and waits for its answer, which may be behind others. The buffer
 * goes back to the device. Returns whether it came. */
bool nic_exchange(struct nic *n, uint32_t number, uint32_t size);
/* Waits until no frame comes any more, and takes all. */
void nic_quiet(struct nic *n);
void nic_end_peer(struct nic *n);

/* Lets other VMs, or the second device here, do what they have to. */
void pause(void);

/* Interrupts, as the PLIC has them. Before irq_open() there are none. */
void irq_open(void);
/* Whether the device interrupts: takes the interrupt. irq_done() completes it. */
bool irq_claim(void);
void irq_done(void);
/* Takes an interrupt as a driver does. Returns the ISR status; 0: there was none. */
uint32_t irq_take(const struct nic *n);

/* The second device sends frames back that come to it, if there is one. */
bool peer_open(void);
void peer_serve(void);

#endif
