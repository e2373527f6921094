/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared memory that its readers take for page tables.
 *   role=writer  fills the first page of it with entries whose A and D are 0, and tells at its end
 *                which of them have changed.
 *   role=reader  has the hart translate by this page, as a table of pages and as one of large
 *                pages, and tells how each access ends, whatever its device tree says of Svadu. In
 *                rounds= rounds, with a pause before each. If it may write the page it fills it
 *                itself.
 *   role=bait    has one entry with A, which lets a runner run, clears A after a while, and tells
 * at its end whether it is still so. role=runner  runs code by that entry. When A is cleared the
 * hart still knows the page, so the code reaches its WRS.NTO, which traps: is it read by the entry,
 * and does that set A?
 */
#include "guests/bare/bare.h"

#define ENTRIES 512U
#define BAIT    7U    /* the entry of bait and runner */
#define TABLE   1U    /* V: the entry leads to a table */
#define LEAF    0xcfU /* D A X W R V */
#define UNUSED  0x0fU /* the same without D and A */
#define LARGE   300U  /* from this entry on they map memory as large pages have to */
#define GIGA    30
#define RAM     0x80000000UL

static uint64_t root[ENTRIES] __attribute__((aligned(4096)));
static uint64_t middle[ENTRIES] __attribute__((aligned(4096)));
/* The page that the entries map: a function, and room for data. Both VMs have it at one address. */
static union {
	uint32_t ret;
	uint64_t words[ENTRIES];
} page __attribute__((aligned(4096))) = {.ret = 0x00008067};

/* A page that spins while A is set in the entry at a0, and then waits once. */
void tables_run(const volatile uint64_t *at);
__asm__(".balign 4096\n"
        "tables_run:\n"
        "1:	ld t0, 0(a0)\n"
        "	andi t0, t0, 0x40\n"
        "	bnez t0, 1b\n"
        "	.4byte 0x00d00073\n" /* wrs.nto */
        "	ret\n"
        ".balign 4096\n");

static uint64_t entry(uint64_t address, uint64_t flags)
{
	return address >> 12 << 10 | flags;
}

static uint64_t written(uint32_t i)
{
	return entry(i < LARGE ? (uint64_t)&page : RAM, UNUSED);
}

static void fill(volatile uint64_t *table)
{
	for (uint32_t i = 0; i < ENTRIES; i++)
		table[i] = written(i);
}

static int writer(volatile uint64_t *table)
{
	uint64_t changed = 0;

	fill(table);
	sleep_for(bootarg_num("ticks", 1000000));
	for (uint32_t i = 0; i < ENTRIES; i++) {
		if (table[i] == written(i))
			continue;
		print("tables: entry %u became %x\n", (uint64_t)i, table[i]);
		changed++;
	}
	print("tables: %u of %u entries changed\n", changed, (uint64_t)ENTRIES);
	return 0;
}

static void load(uint64_t at)
{
	(void)*(volatile uint64_t *)at;
}

static void store(uint64_t at)
{
	*(volatile uint64_t *)(at + 8) = 1;
}

static void amo(uint64_t at)
{
	__asm__ volatile("amoadd.d zero, zero, (%0)" ::"r"(at + 8) : "memory");
}

static void jump(uint64_t at)
{
	((void (*)(void))at)();
}

static const struct {
	const char *name;
	void (*access)(uint64_t at);
	uint64_t at;
} tries[] = {
    {"load", load, 3UL << 30 | 1UL << 12},
    {"store", store, 3UL << 30 | 2UL << 12},
    {"AMO", amo, 3UL << 30 | 3UL << 12},
    {"jump", jump, 3UL << 30 | 4UL << 12},
    {"load from a large page", load, 5UL << 30 | (LARGE + 1UL) << 21},
    {"store to a large page", store, 5UL << 30 | (LARGE + 2UL) << 21 | 0x1f0000},
};

/* All pages of the guest itself have A and D. */
static void turn_paging_on(uint64_t table)
{
	root[RAM >> GIGA] = entry(RAM, LEAF);
	root[3] = entry((uint64_t)middle, TABLE);
	middle[0] = entry(table, TABLE);
	root[5] = entry(table, TABLE);
	csr_write(satp, 8UL << 60 | (uint64_t)root >> 12);
	__asm__ volatile("sfence.vma" ::: "memory");
}

static int reader(const struct shared_memory *s)
{
	uint64_t rounds = bootarg_num("rounds", 1), passed = 0;

	print("tables: its device tree has %s\n", tree_has("svadu") ? "Svadu" : "no Svadu");
	for (uint64_t n = 0; n < rounds; n++) {
		sleep_for(MS);
		if (s->writable)
			fill((volatile uint64_t *)s->base);
		turn_paging_on(s->base);
		for (uint32_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
			trap_guard();
			tries[i].access(tries[i].at);
			struct trap_seen seen = trap_unguard();

			passed += !seen.count;
			if (seen.count && !n)
				print("tables: %s: cause %u\n", tries[i].name, seen.cause);
		}
		csr_write(satp, 0);
	}
	print("tables: %u of %u accesses passed\n", passed,
	      rounds * (sizeof(tries) / sizeof(tries[0])));
	return 0;
}

static int bait(volatile uint64_t *table)
{
	uint64_t without = entry((uint64_t)tables_run, UNUSED);

	table[BAIT] = entry((uint64_t)tables_run, LEAF);
	sleep_for(5 * MS);
	table[BAIT] = without;
	sleep_for(50 * MS);
	print("tables: the entry %s\n", table[BAIT] == without ? "stays" : "has changed");
	return 0;
}

static int runner(const struct shared_memory *s)
{
	void (*run)(uint64_t at) = (void (*)(uint64_t))(3UL << GIGA | BAIT << 12);

	sleep_for(MS);
	root[s->base >> GIGA] = entry(s->base, LEAF);
	turn_paging_on(s->base);
	trap_guard();
	run(s->base + BAIT * sizeof(root[0]));
	struct trap_seen seen = trap_unguard();

	csr_write(satp, 0);
	print("tables: ran, and then %u traps, cause %u\n", seen.count, seen.cause);
	return 0;
}

int tables(uint64_t hartid)
{
	struct shared_memory s;

	(void)hartid;
	if (!shared_node(0, &s))
		return 1;
	if (bootarg_is("role", "bait"))
		return bait((volatile uint64_t *)s.base);
	if (bootarg_is("role", "runner"))
		return runner(&s);
	return bootarg_is("role", "writer") ? writer((volatile uint64_t *)s.base) : reader(&s);
}
