/* SPDX-License-Identifier: Apache-2.0 */
#include "guests/bare/io/port.h"

#include "guests/bare/bare.h"
#include "guests/bare/io/rng.h"

#define ID      0x10411af4U
#define SLOTS   32U
#define VENDOR  9U /* a capability of virtio */
#define DONE    15U
#define DRIVER  3U
#define AGREED  11U
#define VERSION 1U /* bit 32 of the features */

#define MORE     1U /* flags of descriptors */
#define WRITES   2U
#define INDIRECT 4U

#define PARTS 6U

/* Offsets in a slot. */
#define SLOT         0x10001000UL
#define VIRT         0x74726976U
#define NETWORK      1U
#define FEATURES     0x10UL
#define FEATURES_SEL 0x14UL
#define ACCEPTED     0x20UL
#define ACCEPTED_SEL 0x24UL
#define QUEUE        0x30UL
#define QUEUE_SIZE   0x38UL
#define QUEUE_READY  0x44UL
#define QUEUE_NOTIFY 0x50UL
#define INTERRUPT    0x60UL
#define ACKNOWLEDGE  0x64UL
#define STATUS       0x70UL
#define DESCRIPTORS  0x80UL
#define AVAILABLE    0x90UL
#define USED         0xa0UL
#define GENERATION   0xfcUL
#define CONFIG       0x100UL

#define PLIC        0x0c000000UL
#define PLIC_ENABLE (PLIC + 0x2000UL)
#define PLIC_CLAIM  (PLIC + 0x200004UL)
#define SOURCE      31U /* the highest that its VM has left, unless it is in a slot */

struct port_ring port_rings[PORT_QUEUES];
static uint8_t buffers[PORT_QUEUES][PORT_QUEUE][PORT_BUFFER]
    __attribute__((aligned(64), section(".noinit")));
static struct port_descriptor indirect[PORT_QUEUE][PARTS] __attribute__((aligned(16)));

static void find_parts(struct port *p, uint64_t page)
{
	uint64_t *parts[] = {&p->common, &p->notify, &p->isr, &p->config};
	uint32_t at = in8(page + PCI_CAPABILITIES);

	for (uint32_t i = 0; at && i < PCI_CAPS_MAX; i++, at = in8(page + at + 1)) {
		uint32_t kind = in8(page + at + 3);

		if (in8(page + at) != VENDOR || !kind || kind > 4)
			continue;
		*parts[kind - 1] = pci_bar(page, in8(page + at + 4)) + in32(page + at + 8);
		if (kind == 2)
			p->multiplier = in32(page + at + 16);
	}
}

/* Finds the first network device. */
static bool find_function(struct port *p)
{
	uint64_t page = 0;

	for (uint32_t slot = SLOTS; slot-- && !page;) {
		if (in32(pci_page(slot * 8)) == ID)
			page = pci_page(slot * 8);
	}
	if (!page)
		return false;
	*p = (struct port){.source = SOURCE};
	find_parts(p, page);
	out16(page + PCI_COMMAND, PCI_MEMORY | PCI_MASTER);
	return true;
}

static bool find_slot(struct port *p)
{
	for (uint32_t i = 0; i < 8; i++) {
		uint64_t at = SLOT + 0x1000UL * i;

		if (in32(at) != VIRT || in32(at + 4) != 2 || in32(at + 8) != NETWORK)
			continue;
		*p =
		    (struct port){.slot = at, .config = at + CONFIG, .source = i + 1, .context = 1};
		return true;
	}
	return false;
}

static void set_status(const struct port *p, uint8_t status)
{
	if (p->slot)
		out32(p->slot + STATUS, status);
	else
		out8(p->common + 20, status);
}

static bool agree_in_slot(struct port *p, uint32_t features)
{
	out32(p->slot + FEATURES_SEL, 0);
	p->features = in32(p->slot + FEATURES) & features;
	out32(p->slot + ACCEPTED_SEL, 0);
	out32(p->slot + ACCEPTED, p->features);
	out32(p->slot + ACCEPTED_SEL, 1);
	out32(p->slot + ACCEPTED, VERSION);
	set_status(p, AGREED);
	return port_status(p) == AGREED;
}

static bool agree(struct port *p, uint32_t features)
{
	set_status(p, 0);
	while (port_status(p))
		;
	set_status(p, DRIVER);
	if (p->slot)
		return agree_in_slot(p, features);
	out32(p->common, 0);
	p->features = in32(p->common + 4) & features;
	out32(p->common + 8, 0);
	out32(p->common + 12, p->features);
	out32(p->common + 8, 1);
	out32(p->common + 12, VERSION);
	set_status(p, AGREED);
	return port_status(p) == AGREED;
}

static void set_queue(const struct port *p, uint32_t n)
{
	struct port_ring *ring = &port_rings[n];

	if (p->slot) {
		out32(p->slot + QUEUE, n);
		out32(p->slot + QUEUE_SIZE, PORT_QUEUE);
		out64(p->slot + DESCRIPTORS, (uint64_t)ring->descriptors);
		out64(p->slot + AVAILABLE, (uint64_t)&ring->available);
		out64(p->slot + USED, (uint64_t)&ring->used);
		out32(p->slot + QUEUE_READY, 1);
		return;
	}
	out16(p->common + 22, (uint16_t)n);
	out16(p->common + 24, PORT_QUEUE);
	out64(p->common + 32, (uint64_t)ring->descriptors);
	out64(p->common + 40, (uint64_t)&ring->available);
	out64(p->common + 48, (uint64_t)&ring->used);
	out16(p->common + 28, 1);
}

static void publish(struct port *p, uint32_t queue, uint32_t slot)
{
	struct port_ring *ring = &port_rings[queue];

	ring->available.ring[p->next[queue] % PORT_QUEUE] = (uint16_t)slot;
	ring->available.event = p->taken[queue];
	__asm__ volatile("fence" ::: "memory");
	*(volatile uint16_t *)&ring->available.index = ++p->next[queue];
}

bool port_open(struct port *p, uint32_t features, uint32_t n, uint32_t bytes)
{
	if (!(bootarg("virt") ? find_slot(p) : find_function(p)) || !agree(p, features))
		return false;
	for (uint32_t i = 0; i < PORT_MAC; i++)
		p->mac[i] = in8(p->config + i);
	for (uint32_t i = 0; i < PORT_QUEUES; i++)
		set_queue(p, i);
	for (uint32_t i = 0; i < n; i++) {
		port_rings[PORT_RECEIVES].descriptors[i] = (struct port_descriptor){
		    (uint64_t)buffers[PORT_RECEIVES][i], PORT_HEADER + bytes, WRITES, 0};
		publish(p, PORT_RECEIVES, i);
	}
	set_status(p, DONE);
	out32(PLIC + 4UL * p->source, 1);
	out32(PLIC_ENABLE + 0x80UL * p->context, 1U << p->source);
	csr_set(sie, IRQ_EXTERNAL);
	return true;
}

uint8_t port_status(const struct port *p)
{
	return p->slot ? (uint8_t)in32(p->slot + STATUS) : in8(p->common + 20);
}

static uint16_t used(uint32_t queue)
{
	uint16_t index = *(volatile uint16_t *)&port_rings[queue].used.index;

	__asm__ volatile("fence" ::: "memory");
	return index;
}

/* Asks for an interrupt with the next buffer. */
static void want(const struct port *p, uint32_t queue)
{
	*(volatile uint16_t *)&port_rings[queue].available.event = p->taken[queue];
	__asm__ volatile("fence" ::: "memory");
}

uint8_t *port_frame(struct port *p)
{
	p->taken[PORT_SENDS] = used(PORT_SENDS);
	while ((uint16_t)(p->next[PORT_SENDS] - p->taken[PORT_SENDS]) == PORT_QUEUE) {
		want(p, PORT_SENDS);
		if (used(PORT_SENDS) == p->taken[PORT_SENDS])
			(void)port_wait(p);
		p->taken[PORT_SENDS] = used(PORT_SENDS);
	}
	return &buffers[PORT_SENDS][p->next[PORT_SENDS] % PORT_QUEUE][PORT_HEADER];
}

/* All parts but the first two have one byte. */
static void cut(struct port_descriptor *d, uint32_t base, uint64_t at, uint32_t size,
                uint32_t parts)
{
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t n = i + 1 == parts ? size : i ? 1 : PORT_HEADER;

		d[i] = (struct port_descriptor){at, n, i + 1 < parts ? MORE : 0,
		                                (uint16_t)(base + i + 1)};
		at += n;
		size -= n;
	}
}

void port_offer(struct port *p, uint32_t size, uint32_t parts)
{
	uint8_t *buffer = buffers[PORT_SENDS][p->next[PORT_SENDS] % PORT_QUEUE];

	for (uint32_t i = 0; i < PORT_HEADER; i++)
		buffer[i] = 0;
	port_offer_at(p, (uint64_t)buffer, PORT_HEADER + size, parts);
}

void port_offer_at(struct port *p, uint64_t at, uint32_t bytes, uint32_t parts)
{
	uint32_t slot = p->next[PORT_SENDS] % PORT_QUEUE;
	struct port_descriptor *d = &port_rings[PORT_SENDS].descriptors[slot];

	if (p->features & PORT_INDIRECT) {
		cut(indirect[slot], 0, at, bytes, parts);
		*d =
		    (struct port_descriptor){(uint64_t)indirect[slot],
		                             parts * (uint32_t)sizeof(indirect[0][0]), INDIRECT, 0};
	} else {
		cut(d, slot, at, bytes, 1);
	}
	publish(p, PORT_SENDS, slot);
}

void port_notify(const struct port *p, uint32_t queue)
{
	__asm__ volatile("fence" ::: "memory");
	if (p->slot)
		out32(p->slot + QUEUE_NOTIFY, queue);
	else
		out16(p->notify + (uint64_t)p->multiplier * queue, (uint16_t)queue);
}

uint8_t *port_buffer(const struct port *p, uint32_t *bytes)
{
	uint32_t entry = p->taken[PORT_RECEIVES] % PORT_QUEUE;

	if (used(PORT_RECEIVES) == p->taken[PORT_RECEIVES])
		return NULL;
	*bytes = port_rings[PORT_RECEIVES].used.ring[entry].length;
	return buffers[PORT_RECEIVES][port_rings[PORT_RECEIVES].used.ring[entry].id % PORT_QUEUE];
}

uint8_t *port_received(struct port *p, uint32_t *size)
{
	uint8_t *buffer = port_buffer(p, size);

	if (!buffer)
		return NULL;
	*size -= PORT_HEADER;
	return buffer + PORT_HEADER;
}

void port_release(struct port *p)
{
	uint32_t entry = p->taken[PORT_RECEIVES]++ % PORT_QUEUE;

	publish(p, PORT_RECEIVES, port_rings[PORT_RECEIVES].used.ring[entry].id % PORT_QUEUE);
	want(p, PORT_RECEIVES);
}

uint8_t port_wait(struct port *p)
{
	uint64_t claim = PLIC_CLAIM + 0x1000UL * p->context;
	uint32_t source;
	uint8_t isr;

	__asm__ volatile("wfi");
	source = in32(claim);
	isr = p->slot ? (uint8_t)in32(p->slot + INTERRUPT) : in8(p->isr);
	if (p->slot)
		out32(p->slot + ACKNOWLEDGE, isr);
	if (source)
		out32(claim, source);
	return isr;
}

bool port_is_up(const struct port *p)
{
	return in16(p->config + PORT_MAC) & 1;
}

uint32_t port_generation(const struct port *p)
{
	return p->slot ? in32(p->slot + GENERATION) : in8(p->common + 21);
}
