/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the bell of the memory "ring", which it shares with another such guest.
 *   role=ping, pong  rounds= times the first one writes a number and rings, and the second one
 *                    answers in the same way. Each has its half of the memory, and sleeps until it
 *                    is rung. The first one waits for the other's life, before which a ring is
 *                    dropped.
 *   role=ring        rings rounds= times, each answered by role=count; prints the mean of what a
 *                    store to the bell takes, in tenths of an instruction: with -icount a tick of
 *                    `time` has 100 of them
 *   role=count       counts how often it is rung, until the other one's life is over
 *   role=watch       tells how the lives of the others change, until all are over
 *   role=lives       tells the state of its bell, and restarts until it has had lives=
 *   role=registers   checks what the function shows and ignores
 *   role=rings       rings, and lives until a byte is typed
 *   role=is-rung     looks until then whether the APLIC still has its level
 * With interrupts = "aia" it takes the identity, and does not look at the state; with chip=aplic it
 * has none, and the source sends it a message. console=off: it tells nothing.
 */
#include "guests/lib/bell.h"

#include "guests/bare/io/aia.h"
#include "guests/bare/bare.h"

#define PLIC_PRIORITY 0x0c000000UL
#define PLIC_ENABLE   0x0c002000UL
#define PLIC_CLAIM    0x0c200004UL
#define TICK          100UL /* instructions */

static struct bell bell;
static uint32_t source, identity;
static volatile uint64_t rung, strange;
static uint64_t wrong;

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

/* The source is asked to look again: who has rung meanwhile has found it high. */
static void on_source(uint64_t id)
{
	if (id != source || !(bell_take(&bell) & BELL_RUNG))
		strange++;
	else
		rung++;
	*aplic(APLIC_SETIPNUM) = source;
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
	if (bootarg_is("chip", "aplic")) {
		aia_on_message = on_source;
		aia_on(IRQ_EXTERNAL);
		aia_route(source, APLIC_HIGH, 0, source);
		return true;
	}
	irq_handle_by(on_plic);
	write32(PLIC_PRIORITY + 4 * source, 1);
	write32(PLIC_ENABLE, 1U << source);
	csr_set(sie, IRQ_EXTERNAL);
	csr_set(sstatus, SSTATUS_SIE);
	return true;
}

/* Rings its own bell's number too, which is nobody's business, and leaves what it can. */
static int lives(uint64_t n)
{
	uint32_t life = bell_read(&bell, BELL_LIVES + 4 * bell_read(&bell, BELL_SELF));

	print("bell: life %u: state %u, mask %u\n", life, bell_read(&bell, BELL_STATE),
	      bell_read(&bell, BELL_MASK));
	bell_write(&bell, BELL_MASK, BELL_CHANGED);
	bell_ring(&bell);
	sleep_for(20 * MS);
	if (life < n)
		sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, 1, 0, 0, 0, 0, 0);
	return 0;
}

static void expect(uint32_t found, uint32_t known, uint32_t what)
{
	if (found == known)
		return;
	wrong++;
	print("bell: WRONG: %x is %x, not %x\n", what, found, known);
}

static void config_is(uint32_t at, uint32_t known)
{
	expect(bell_in(bell.config + at), known, at);
}

/* All ones, as a driver asks for the size of a BAR; then it has its place again. */
static void bar_is(uint32_t at, uint32_t place, uint32_t size)
{
	config_is(at, place);
	write32(bell.config + at, ~0U);
	config_is(at, size);
	write32(bell.config + at, place);
	config_is(at, place);
}

static int registers(void)
{
	uint32_t self = bell_read(&bell, BELL_SELF), high = (uint32_t)(bell.memory >> 32);

	config_is(0x00, BELL_ID);
	config_is(0x08, 0x05800001);
	config_is(0x0c, 0);
	bar_is(0x10, (uint32_t)bell.page, 0xfffff000);
	bar_is(0x14, 0, 0);
	bar_is(0x18, (uint32_t)bell.memory | 4, 0xffff0004);
	bar_is(0x1c, high, ~0U);
	bar_is(0x20, 0, 0);
	bar_is(0x24, 0, 0);
	config_is(0x34, 0);
	config_is(0x3c, 0x100);
	write32(bell.config + 0x3c, 0xabcd12);
	config_is(0x3c, 0x112);
	config_is(0x40, 0);
	config_is(0x100, 0);
	expect(bell_in(BELL_ECAM), ~0U, 0); /* nobody is there */
	/* The bits of the command that count, INTx Disable among them, and no status of errors. */
	write32(bell.config + 4, ~0U);
	config_is(4, 0x406);
	write32(bell.config + 4, 0);
	config_is(4, 0);

	/* Bits of the mask that do not exist. It rings nobody by a register or width that is none.
	 */
	bell_write(&bell, BELL_MASK, 0);
	bell_write(&bell, BELL_STATE, BELL_CHANGED); /* the other one may have begun later */
	bell_write(&bell, BELL_MASK, ~0U);
	expect(bell_read(&bell, BELL_MASK), BELL_RUNG | BELL_CHANGED, BELL_MASK);
	bell_write(&bell, BELL_MASK, 0);
	expect(bell_read(&bell, BELL_RING), 0, BELL_RING);
	expect(bell_read(&bell, BELL_BELLS), 3, BELL_BELLS);
	expect(bell_read(&bell, BELL_SOURCE), 1, BELL_SOURCE);
	expect(bell_read(&bell, BELL_IDENTITY), 0, BELL_IDENTITY);
	expect(bell_read(&bell, BELL_ACCESS), 1, BELL_ACCESS);
	expect(bell_read(&bell, BELL_SIZE), 0x10000, BELL_SIZE);
	expect(bell_read(&bell, BELL_NAME), 0x676e6972, BELL_NAME); /* "ring" */
	expect(bell_read(&bell, BELL_LIVES + 4 * self), 1, BELL_LIVES);
	expect(bell_read(&bell, BELL_LIVES + 4 * 2), 0, BELL_LIVES);
	expect(bell_read(&bell, 0x20), 0, 0x20);
	expect(bell_read(&bell, 0x80), 0, 0x80);
	expect(bell_read(&bell, 0xffc), 0, 0xffc);
	*(volatile uint8_t *)(bell.page + BELL_RING) = 0xff;
	*(volatile uint64_t *)(bell.page + BELL_RING) = ~0UL;
	write32(bell.page + 0x20, ~0U);
	write32(bell.page + 0xffc, ~0U);
	expect((uint32_t)rung, 0, BELL_RUNG);
	expect(bell_read(&bell, BELL_STATE) & BELL_RUNG, 0, BELL_STATE);
	/* Behind it there is nothing. */
	trap_guard();
	(void)bell_in(bell.page + 0x1000);
	expect((uint32_t)trap_unguard().cause, 5, 0x1000);
	sleep_for(20 * MS);
	expect((uint32_t)rung, 0, BELL_RUNG);

	/* INTx: its reason is told whether or not it is disabled, and masks hold it. */
	bell_write(&bell, BELL_MASK, BELL_RUNG);
	write32(bell.config + 4, 0x400);
	*(volatile uint64_t *)(bell.memory + 8 * self) = 1;
	while (*(volatile uint64_t *)(bell.memory + 8 * !self) != 1)
		sleep_for(MS);
	bell_ring(&bell);
	while (!(bell_read(&bell, BELL_STATE) & BELL_RUNG))
		sleep_for(MS);
	config_is(4, 0x00080400);
	expect((uint32_t)rung, 0, 0x400);
	bell_write(&bell, BELL_MASK, BELL_CHANGED);
	bell_write(&bell, BELL_STATE, BELL_CHANGED);
	config_is(4, 0x400);
	write32(bell.config + 4, 0);
	expect((uint32_t)rung, 0, 0);
	bell_write(&bell, BELL_MASK, BELL_RUNG);
	expect((uint32_t)rung, 1, 1);
	config_is(4, 0);
	*(volatile uint64_t *)(bell.memory + 8 * self) = 2;
	while (*(volatile uint64_t *)(bell.memory + 8 * !self) != 2)
		sleep_for(MS);
	print("bell: registers: %u wrong\n", wrong + strange);
	return wrong || strange;
}

/* A VM on another hart may begin later than this one. */
static void await_lives(void)
{
	uint32_t bells = bell_read(&bell, BELL_BELLS);

	while (bell_read(&bell, BELL_ALIVE) != bells)
		sleep_for(MS);
}

/* Sleeps until it was rung so many times. */
static void await(uint64_t n)
{
	while (rung < n) {
		csr_clear(sstatus, SSTATUS_SIE);
		if (rung < n)
			__asm__ volatile("wfi");
		csr_set(sstatus, SSTATUS_SIE);
	}
}

static int pass(bool first, uint64_t rounds)
{
	volatile uint64_t *own = (uint64_t *)(bell.memory + (first ? 0 : bell.size / 2));
	volatile uint64_t *other = (uint64_t *)(bell.memory + (first ? bell.size / 2 : 0));

	if (first)
		await_lives();
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
	if (!bootarg_is("console", "off")) {
		print("bell: %u rounds, %u rung, %u wrong, ", rounds, rung, wrong);
		print("%u strange\n", strange);
	}
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

	if (!rounds)
		return 1;
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
			;
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

static int rings(void)
{
	static volatile uint8_t typed;

	await_lives();
	bell_ring(&bell);
	print("bell: has rung\n");
	while (!sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_READ, 1, (unsigned long)&typed, 0, 0, 0, 0)
	            .value)
		sleep_for(MS);
	return 0;
}

/* Nobody takes what it was rung for, so the level stays. */
static int is_rung(void)
{
	uint32_t self = bell_read(&bell, BELL_SELF);

	*aplic(APLIC_CLRIENUM) = source;
	while (!(bell_read(&bell, BELL_STATE) & BELL_RUNG))
		sleep_for(MS);
	while (bell_read(&bell, BELL_ALIVE) != 1U << self) {
		wrong += !(*aplic(APLIC_INPUT) >> source & 1);
		sleep_for(MS);
	}
	return wrong || strange;
}

int bell_kind(uint64_t hartid)
{
	uint64_t rounds = bootarg_num("rounds", 100);

	if (!begin(hartid))
		return 1;
	if (bootarg_is("role", "lives"))
		return lives(bootarg_num("lives", 1));
	if (bootarg_is("role", "registers"))
		return registers();
	if (bootarg_is("role", "ring"))
		return ring(rounds);
	if (bootarg_is("role", "count"))
		return count();
	if (bootarg_is("role", "rings"))
		return rings();
	if (bootarg_is("role", "is-rung"))
		return is_rung();
	if (bootarg_is("role", "watch"))
		return watch();
	return pass(bootarg_is("role", "ping"), rounds);
}
