/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A gust of tempest by the MSI-X of a port of a network: frames to nobody, so that each of its
 * vectors sends messages to the files of both vcpus, and to none; masked, so that they pend, and
 * sent in one stay or in three. The second vcpu sleeps until one comes.
 */
#include "guests/bare/io/aia.h"
#include "guests/bare/io/port.h"
#include "guests/bare/io/rng.h"
#include "guests/bare/vcpu/smp.h"

#define ID           0x10411af4U
#define SLOTS        32U
#define MSIX         0x11U /* a capability: */
#define CONTROL      2U
#define TABLE        4U
#define ENABLE       0x8000U
#define MASK_ALL     0x4000U
#define ENTRY        16U /* bytes of the table; offsets: */
#define DATA         8U
#define MASK         12U
#define QUEUE        22U /* in the common configuration */
#define QUEUE_VECTOR 26U

#define VECTORS  3U
#define IDENTITY 10U
#define FRAME    60U
#define BURST    8U
#define FILES    3U /* its own, the second vcpu's, and one that there is not */

static struct port port;
static uint64_t msix, table;    /* its word of control, and the table */
static volatile uint64_t woken; /* messages that the second vcpu has taken */

/* Returns what pended, or 0. */
static uint64_t claim(void)
{
	uint64_t topei;

	__asm__ volatile("csrrw %0, " XSTR(CSR_STOPEI) ", zero" : "=r"(topei)::"memory");
	return topei;
}

static uint64_t take(void)
{
	uint64_t n = 0;

	while (claim())
		n++;
	return n;
}

static void receive(void)
{
	aia_write(AIA_EIDELIVERY, 1);
	aia_write(AIA_EIE0, ~1UL);
}

static void sleeps(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid;
	(void)self;
	receive();
	csr_clear(sstatus, SSTATUS_SIE);
	csr_set(sie, IRQ_EXTERNAL);
	for (;;) {
		__asm__ volatile("wfi");
		woken += take();
	}
}

static void find(void)
{
	for (uint32_t slot = 0; slot < SLOTS; slot++) {
		uint64_t page = pci_page(slot * 8);
		uint32_t at = in32(page) == ID ? in8(page + PCI_CAPABILITIES) : 0;

		for (uint32_t i = 0; at && i < PCI_CAPS_MAX; i++, at = in8(page + at + 1)) {
			uint32_t where = in32(page + at + TABLE);

			if (in8(page + at) != MSIX)
				continue;
			msix = page + at + CONTROL;
			table = pci_bar(page, where & 7) + (where & ~7U);
		}
	}
}

/* Its VM has no PLIC, where port_open() writes as well. */
static void open(void)
{
	trap_guard();
	(void)port_open(&port, 0, 0, FRAME);
	(void)trap_unguard();
	csr_clear(sie, IRQ_EXTERNAL);
	receive();
	find();
	(void)smp_start(1, sleeps);
}

/* A frame whose buffer comes back with the message of this vector. */
static void send(uint32_t vector)
{
	uint8_t *frame = port_frame(&port);

	out16(port.common + QUEUE, PORT_SENDS);
	out16(port.common + QUEUE_VECTOR, (uint16_t)vector);
	for (uint32_t i = 0; i < PORT_MAC; i++) {
		frame[i] = 2;
		frame[PORT_MAC + i] = port.mac[i];
	}
	port_offer(&port, FRAME, 1);
	port_notify(&port, PORT_SENDS);
}

static void mask(uint32_t vector, uint32_t masked)
{
	out32(table + ENTRY * (uint64_t)vector + MASK, masked);
}

uint64_t tempest_messages(void)
{
	static uint32_t turn;
	uint64_t n = 0;

	if (!turn++)
		open();
	out16(msix, (uint16_t)(ENABLE | (turn & 1 ? MASK_ALL : 0)));
	for (uint32_t i = 0; i < VECTORS; i++) {
		out64(table + ENTRY * (uint64_t)i, AIA_IMSIC + 0x1000UL * ((turn + i) % FILES));
		out32(table + ENTRY * (uint64_t)i + DATA, IDENTITY + i);
		mask(i, ~turn & 1);
		send(i);
	}
	out16(msix, ENABLE);
	for (uint32_t i = 0; i < VECTORS; i++) {
		mask(i, 0);
		n += take();
	}
	for (uint32_t i = 0; i < BURST; i++) {
		send(i % VECTORS);
		n += take();
	}
	/* Nothing counts before the second one has woken. */
	return woken ? n : 0;
}
