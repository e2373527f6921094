/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest with a driver for its power key, which prints what comes from the key and when. It powers
 * itself off when the key is released.
 *   slot=N     the key's device number on the bus
 *   opens=0    it has no driver
 *   obeys=0    it does not power itself off
 *   table=A    the address of the table of descriptors, instead of its own
 *   buffer=A   the address of each buffer
 *   forges=N   first it writes N random values to random registers of the key, and resets it
 */
#include "guests/bare/bare.h"
#include "guests/bare/io/rng.h"

#define KEY 0x30109000UL

#define PLIC          0x0c000000UL
#define PLIC_ENABLE   (PLIC + 0x2000UL)
#define PLIC_CLAIM    (PLIC + 0x200004UL)
#define SOURCE        31U
#define EVENT_BYTES   8U
#define NEEDS_RESET   0x40U
#define REGISTER_SPAN 0x400U

struct event {
	uint16_t type, code;
	uint32_t value;
};

static struct rng_rings rings;
static struct event events[RNG_QUEUE];
static struct rng key;

static void offer(uint32_t n)
{
	rng_offer(&key, &rings, n, bootarg_num("buffer", (uint64_t)&events[n % RNG_QUEUE]),
	          EVENT_BYTES);
}

static bool start(void)
{
	if (!rng_find(&key, pci_page((uint32_t)bootarg_num("slot", 30) * 8)) || !rng_reset(&key))
		return false;
	rng_start(&key, bootarg_num("table", (uint64_t)rings.descriptors),
	          (uint64_t)&rings.available, (uint64_t)&rings.used, RNG_NO_VECTOR);
	for (uint32_t n = 0; n < RNG_QUEUE; n++)
		offer(n);
	out32(PLIC + 4UL * SOURCE, 1);
	out32(PLIC_ENABLE, 1U << SOURCE);
	csr_set(sie, IRQ_EXTERNAL);
	return true;
}

/* Of each width, aligned or not. */
static void forge_values(uint64_t n)
{
	uint64_t x = n;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at;

		x = x * 6364136223846793005UL + 1442695040888963407UL;
		at = KEY + (x >> 40) % REGISTER_SPAN;
		trap_guard();
		if (x >> 60 & 1)
			*(volatile uint8_t *)at = (uint8_t)(x >> 30);
		else if (x >> 61 & 1)
			*(volatile uint16_t *)(at & ~1UL) = (uint16_t)(x >> 30);
		else if (x >> 62 & 1)
			*(volatile uint64_t *)(at & ~7UL) = x;
		else
			*(volatile uint32_t *)(at & ~3UL) = (uint32_t)(x >> 20);
		(void)*(volatile uint32_t *)(at & ~3UL);
		trap_unguard();
	}
	print("key: %u forged\n", n);
}

/* Prints the event, and returns whether the key was released. */
static bool take(uint32_t n)
{
	volatile struct event *e = &events[n % RNG_QUEUE];
	uint32_t type = e->type, code = e->code, value = e->value;

	print("key: type %u code %u value %u", type, code, value);
	print(", %u bytes, at %u\n", rings.used.ring[n % RNG_QUEUE].length, csr_read(time));
	offer(n + RNG_QUEUE);
	return type == 1 && !value;
}

int key_kind(uint64_t hartid)
{
	bool released = false;

	(void)hartid;
	forge_values(bootarg_num("forges", 0));
	if (bootarg_num("opens", 1) && !start())
		return 1;
	print("key: begins\n");
	for (uint32_t n = 0;;) {
		__asm__ volatile("wfi");
		if (!(in32(PLIC_CLAIM) == SOURCE))
			continue;
		print("key: ISR %u\n", in8(key.isr));
		for (; (uint16_t)n != rng_used(&rings); n++)
			released |= take(n);
		out32(PLIC_CLAIM, SOURCE);
		if (rng_status(&key) & NEEDS_RESET) {
			print("key: needs a reset\n");
			if (!start())
				return 1;
		}
		if (released && bootarg_num("obeys", 1))
			return 0;
	}
}
