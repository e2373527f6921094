/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has QEMU's `edu` (1234:11e8) copy memory, where it may and where it may not.
 *   at=DEVFN       its place on the bus, device * 8 + function (5.0)
 *   wait=key       begins when a byte has come on the UART
 *   targets=A,B    guest physical addresses: each is written to and read from
 *   gap=MS         milliseconds between two of these (2200)
 *   length=N       bytes of each of these (8)
 *   burst=N        then writes N times to the first target, as fast as it can
 */
#include "guests/bare/bare.h"

#define ECAM     0x30000000UL
#define COMMAND  0x04U
#define BAR0     0x10U
#define MEMORY   2U
#define MASTER   4U
#define IDENTITY 0x010000edU

#define SOURCE    0x80UL
#define TARGET    0x88UL
#define COUNT     0x90UL
#define START     0x98UL
#define RUN       1UL
#define TO_MEMORY 2UL
#define BUFFER    0x40000UL /* as the device's engine knows it */
#define BYTES     4096U

#define UART_LSR (*(volatile uint8_t *)0x10000005UL)
#define UART_RBR (*(volatile uint8_t *)0x10000000UL)

#define TURN  (110 * MS) /* the engine takes 100 ms */
#define GUARD 0x5a

static uint8_t from[2 * BYTES], to[3 * BYTES] __attribute__((aligned(4096)));
static uint64_t engine;

static volatile uint64_t *reg(uint64_t offset)
{
	return (volatile uint64_t *)(engine + offset);
}

/* Copies between memory and the device's buffer, whose first byte is at `offset`. */
static void copy(uint64_t address, uint64_t offset, uint64_t n, bool to_memory)
{
	__asm__ volatile("fence iorw, iorw" ::: "memory");
	*reg(SOURCE) = to_memory ? BUFFER + offset : address;
	*reg(TARGET) = to_memory ? address : BUFFER + offset;
	*reg(COUNT) = n;
	*reg(START) = RUN | (to_memory ? TO_MEMORY : 0);
	do
		sleep_for(TURN);
	while (*reg(START) & RUN);
	__asm__ volatile("fence iorw, iorw" ::: "memory");
}

static void fill(uint8_t *bytes, uint32_t n, uint8_t first, uint8_t step)
{
	for (uint32_t i = 0; i < n; i++, first = (uint8_t)(first + step))
		bytes[i] = first;
}

/* The device's buffer holds nothing but GUARD. */
static void fill_device(void)
{
	fill(from, BYTES, GUARD, 0);
	copy((uint64_t)from, 0, BYTES, false);
}

/* Copies n bytes there and back, from and to odd places. Returns how many bytes are wrong,
 * neighbours included. */
static uint64_t there_and_back(uint32_t n, uint32_t at)
{
	volatile uint8_t *seen = to;
	uint64_t wrong = 0;

	fill(from, sizeof(from), (uint8_t)(n + at), 7);
	fill(to, sizeof(to), GUARD, 0);
	copy((uint64_t)from + at, 0, n, false);
	copy((uint64_t)to + BYTES - 5 + at, 0, n, true);
	for (uint32_t i = 0; i < sizeof(to); i++) {
		uint32_t k = i - (BYTES - 5 + at);
		uint8_t expected = k < n ? (uint8_t)(n + at + 7 * (at + k)) : GUARD;

		wrong += seen[i] != expected;
	}
	return wrong;
}

/* Reads some bytes at the edge of the memory, and writes them back. */
static uint64_t edge(uint64_t at)
{
	volatile uint8_t *memory = (volatile uint8_t *)at;
	uint8_t before[8];
	uint64_t wrong = 0;

	for (uint32_t i = 0; i < 8; i++)
		before[i] = memory[i];
	copy(at, 16, 8, false);
	for (uint32_t i = 0; i < 8; i++)
		memory[i] = (uint8_t)~before[i];
	copy(at, 16, 8, true);
	for (uint32_t i = 0; i < 8; i++)
		wrong += memory[i] != before[i];
	return wrong;
}

static uint64_t inside(void)
{
	static const uint32_t sizes[] = {1, 2, 3, 8, 64, 4095, 4096};
	uint64_t wrong = 0, base, size;

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		wrong += there_and_back(sizes[i], i);
	if (!memory_node(0, &base, &size))
		return 1;
	wrong += edge(base) + edge(base + size - 8);
	print("edu: inside: %u bytes wrong\n", wrong);
	return wrong;
}

/* Returns how many bytes of somebody else the device has. */
static uint64_t read_there(uint64_t address, uint64_t n)
{
	volatile uint8_t *seen = to;
	uint64_t got = 0;

	fill_device();
	copy(address, 0, n, false);
	copy((uint64_t)to, 0, n, true);
	/* What a device has after a read that failed is for it to say: QEMU's has zeros or what
	 * was there. */
	for (uint32_t i = 0; i < n; i++)
		got += seen[i] != GUARD && seen[i] != 0;
	return got;
}

static uint64_t outside(void)
{
	const char *targets = bootarg("targets");
	uint64_t length = bootarg_num("length", 8), gap = bootarg_num("gap", 2200) * MS;
	uint64_t got = 0, n = 0, address;

	for (; next_number(&targets, &address); n++) {
		uint64_t more;

		print("edu: at 0x%x\n", address);
		fill_device();
		sleep_for(gap);
		copy(address, 0, length, true);
		sleep_for(gap);
		more = read_there(address, length);
		if (more)
			print("edu: has read %u bytes from 0x%x\n", more, address);
		got += more;
	}
	sleep_for(1200 * MS);
	print("edu: %u targets, %u bytes read\n", n, got);
	return got;
}

static void burst(uint64_t n)
{
	const char *targets = bootarg("targets");
	uint64_t address = 0;

	next_number(&targets, &address);
	for (uint64_t i = 0; i < n; i++)
		copy(address, 0, BYTES, true);
	if (n)
		print("edu: %u bursts\n", n);
}

static void wait_for_key(void)
{
	print("edu: waits\n");
	while (!(UART_LSR & 1))
		sleep_for(10 * MS);
	(void)UART_RBR;
}

int edu(uint64_t hartid)
{
	uint64_t page = ECAM + (bootarg_num("at", 40) << 12), wrong;

	(void)hartid;
	engine = *(volatile uint32_t *)(page + BAR0) & ~15U;
	*(volatile uint16_t *)(page + COMMAND) = MEMORY | MASTER;
	if (!engine || *(volatile uint32_t *)engine != IDENTITY) {
		print("edu: there is none\n");
		return 1;
	}
	if (bootarg_is("wait", "key"))
		wait_for_key();
	wrong = inside();
	wrong += outside();
	burst(bootarg_num("burst", 0));
	/* What it may copy, it copies still. */
	wrong += bootarg("burst") ? 0 : there_and_back(100, 1);
	print("edu: ends, %u bytes wrong\n", wrong);
	return wrong ? 1 : 0;
}
