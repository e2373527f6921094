/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the bell of the memory "ring", which it shares with another such guest.
 *   role=ping, pong  rounds= times the first one writes a number and rings, and the second one
 *                    answers in the same way. Each has its half of the memory, and sleeps until it
 *                    is rung.
 *   role=ring        rings rounds= times, each answered by role=count; prints the mean of what a
 *                    store to the bell takes, in tenths of an instruction: with -icount a tick of
 *                    `time` has 100 of them
 *   role=count       counts how often it is rung, until the other one's life is over
 *   role=watch       tells how the lives of the others change, until all are over
 * With interrupts = "aia" it takes the identity, and does not look at the state.
 */
#include "guests/lib/bell.h"

#include "guests/bare/aia.h"
#include "guests/bare/bare.h"

#define PLIC_PRIORITY 0x0c000000UL
#define PLIC_ENABLE   0x0c002000UL
#define PLIC_CLAIM    0x0c200004UL
#define TICK          100UL /* instructions */

static struct bell bell;
static uint32_t source, identity;
static volatile uint64_t rung, strange;

static void write32(uint64_t at, uint32_t value)
{
	*(volatile uint32_t *)at = value;
}

static void on_plic(struct trap_frame *frame)
{
	uint32_t claimed = bell_in(PLIC_CLAIM);

	(void)frame;
	if (claimed != source || !(bell_take(&bell) & BELL_RUNG))
		strange++;
	else
		rung++;
	write32(PLIC_CLAIM, claimed);
}

static void on_message(uint64_t id)
{
	if (id == identity)
		rung++;
	else
		strange++;
	__asm__ volatile("fence io, rw" ::: "memory");
}

static bool begin(uint64_t hartid)
{
	if (!bell_find("ring", &bell)) {
		print("bell: there is none\n");
		return false;
	}
	source = bell_read(&bell, BELL_SOURCE);
	identity = bell_read(&bell, BELL_IDENTITY);
	__asm__ volatile("mv tp, %0" ::"r"(hartid));
	if (identity) {
		aia_on_message = on_message;
		aia_on(IRQ_EXTERNAL);
		return true;
	}
	irq_handle_by(on_plic);
	write32(PLIC_PRIORITY + 4 * source, 1);
	write32(PLIC_ENABLE, 1U << source);
	csr_set(sie, IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
	return true;
}

/* Sleeps until it was rung so many times. */
static void await(uint64_t n)
{
	while (rung < n) {
		csr_clear(sstatus, SSTATUS_SIE);
		if (rung < n && !bootarg("spin"))
			__asm__ volatile("wfi");
		csr_set(sstatus, SSTATUS_SIE);
	}
}

static int pass(bool first, uint64_t rounds)
{
	volatile uint64_t *own = (uint64_t *)(bell.memory + (first ? 0 : bell.size / 2));
	volatile uint64_t *other = (uint64_t *)(bell.memory + (first ? bell.size / 2 : 0));
	uint64_t wrong = 0;

	for (uint64_t i = 1; i <= rounds; i++) {
		if (first) {
			*own = i * i;
			bell_ring(&bell);
		}
		await(i);
		wrong += *other != (first ? i * i + 1 : i * i);
		if (!first) {
			*own = i * i + 1;
			bell_ring(&bell);
		}
	}
	print("bell: %u rounds, %u rung, %u wrong, ", rounds, rung, wrong);
	print("%u strange\n", strange);
	return wrong || strange || rung != rounds;
}

/* Each store begins at another instruction of the tick, so that the mean is exact. */
static uint64_t ticks_of_ring(uint64_t pad)
{
	uint64_t start;

	for (volatile uint64_t i = 0; i < pad; i++)
		;
	__asm__ volatile("fence w, o" ::: "memory");
	start = csr_read(time);
	bell_write(&bell, BELL_RING, ~0U);
	return csr_read(time) - start;
}

static int ring(uint64_t rounds)
{
	volatile uint64_t *seen = (uint64_t *)(bell.memory + bell.size / 2);
	uint64_t sum = 0;

	while (*seen != 1)
		sleep_for(MS);
	for (uint64_t i = 0; i < rounds; i++) {
		while (*seen != i + 1)
			sleep_for(MS / 10);
		sum += ticks_of_ring(i * 7 % 100);
	}
	print("bell: a ring takes %u tenths of an instruction\n", sum * 10 * TICK / rounds);
	return 0;
}

/* It has counted one more than it was rung from its beginning on. */
static int count(void)
{
	volatile uint64_t *seen = (uint64_t *)(bell.memory + bell.size / 2);
	uint32_t other = bell_read(&bell, BELL_BELLS) & ~(1U << bell_read(&bell, BELL_SELF));

	*seen = 1;
	for (uint64_t n = 1; bell_read(&bell, BELL_ALIVE) & other || n == 1; n++) {
		uint64_t until = csr_read(time) + 100 * MS;

		while (rung < n && csr_read(time) < until)
			if (!bootarg("spin"))
				sleep_for(MS);
		*seen = rung + 1;
	}
	print("bell: rung %u times, %u strange\n", rung, strange);
	return strange != 0;
}

static int watch(void)
{
	uint32_t self = bell_read(&bell, BELL_SELF), others = bell_read(&bell, BELL_BELLS), alive;

	others &= ~(1U << self);
	print("bell: is %u of %x, life %u\n", self, others | 1U << self,
	      bell_read(&bell, BELL_LIVES + 4 * self));
	do {
		while (!(bell_read(&bell, BELL_STATE) & BELL_CHANGED))
			sleep_for(MS);
		bell_write(&bell, BELL_STATE, BELL_CHANGED);
		alive = bell_read(&bell, BELL_ALIVE) & others;
		print("bell: alive %x", alive);
		for (uint32_t n = 0; others >> n; n++)
			if (others >> n & 1)
				print(", %u in life %u", n, bell_read(&bell, BELL_LIVES + 4 * n));
		print("\n");
	} while (alive || !bell_read(&bell, BELL_LIVES + 4 * bootarg_num("of", !self)));
	return 0;
}

int bell_kind(uint64_t hartid)
{
	uint64_t rounds = bootarg_num("rounds", 100);

	if (!begin(hartid))
		return 1;
	if (bootarg_is("role", "ring"))
		return ring(rounds);
	if (bootarg_is("role", "count"))
		return count();
	if (bootarg_is("role", "watch"))
		return watch();
	return pass(bootarg_is("role", "ping"), rounds);
}
