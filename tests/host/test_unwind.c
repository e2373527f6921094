/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of callers (core/vcpu/unwind.h) of a guest with 64 KiB of RAM: right ones, with and
 * without page tables, and what a hostile guest may leave, also while it is read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/unwind.h"
#include "core/vcpu/vm.h"
#include "tests/host/chance.h"

#define RAM_BASE  0x80000000UL
#define RAM_WORDS 8192U
#define RAM_BYTES (8UL * RAM_WORDS)
#define KERNEL    0xffffffff80000000UL
#define STACK     0xffffffc600000000UL

/* A page more than the RAM, which nobody may touch. */
static uint64_t ram[RAM_WORDS + 512] __attribute__((aligned(4096)));
static struct vm vm;
static struct vcpu vcpu = {.vm = &vm};
static uint64_t chain[UNWIND_MOST];
static uint32_t lookups; /* in the guest's memory */
static struct chance luck;
static bool changes;
static uint32_t most_lookups; /* in one piece of a chain */

uint64_t host_csrs[4096];

void *guest_mem(const struct vm *of, gpa_t gpa, uint64_t size)
{
	uint64_t offset = gpa.a - RAM_BASE;

	assert_ptr_equal(of, &vm);
	lookups++;
	if (changes)
		for (uint32_t i = 0; i < 200; i++)
			ram[below(&luck, RAM_WORDS)] = chance(&luck);
	if (offset >= RAM_BYTES || size > RAM_BYTES - offset)
		return NULL;
	return (char *)ram + offset;
}

#define UNWIND_CUT BIT(10)

/* Finds a chain in pieces, as samples do, and returns its length. */
static uint32_t unwind(struct vcpu *of, uint64_t fp, bool user, uint64_t *to, uint32_t most)
{
	static struct unwind u;
	uint32_t before;
	bool whole;

	of->ctx.x[REG_S0] = fp;
	host_csrs[CSR_SSTATUS] = user ? 0 : SSTATUS_SPP;
	memset(&u, 0xa5, sizeof(u));
	unwind_begin(&u, of);
	/* The vcpu may leave the hart between two pieces. */
	of->ctx.x[REG_S0] = ~fp;
	do {
		uint64_t satp = host_csrs[CSR_VSATP];

		host_csrs[CSR_VSATP] = 0;
		before = lookups;
		whole = unwind_more(&u, most);
		if (lookups - before > most_lookups)
			most_lookups = lookups - before;
		host_csrs[CSR_VSATP] = satp;
	} while (!whole);
	assert_true(u.n <= most && (u.ended || u.n == most));
	/* It stays whole, and nothing more is read. */
	before = lookups;
	assert_true(unwind_more(&u, most));
	assert_int_equal(lookups, before);
	memcpy(to, u.chain, u.n * sizeof(u.chain[0]));
	return (uint32_t)u.n | (u.cut && u.n < most ? UNWIND_CUT : 0);
}

static int setup(void **state)
{
	(void)state;
	memset(ram, 0, sizeof(ram));
	memset(host_csrs, 0, sizeof(host_csrs));
	lookups = 0;
	changes = false;
	luck = (struct chance){chance_mix(1)};
	return 0;
}

static uint64_t *word(uint64_t gpa)
{
	return &ram[(gpa - RAM_BASE) / 8];
}

/* A frame at this address, of which the guest's physical one is gpa. */
static void frame(uint64_t gpa, uint64_t ra, uint64_t next)
{
	*word(gpa - 8) = ra;
	*word(gpa - 16) = next;
}

static void test_without_page_tables(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		frame(RAM_BASE + 0x1000 + 48 * i, KERNEL + 2 * i, RAM_BASE + 0x1000 + 48 * (i + 1));
	assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1000, false, chain, 16), 16);
	for (uint64_t i = 0; i < 16; i++)
		assert_int_equal(chain[i], KERNEL + 2 * i);
	assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1000, true, chain, 64), 64);
	assert_int_equal(chain[63], KERNEL + 2 * 63);
	/* The hundredth calls nobody. */
	assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1000 + 48 * 95UL, false, chain, 64), 5);
	assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1000, false, chain, 0), 0);
}

/* Tables of so many levels that map the stack's pages, the last one further down in memory. Their
 * leaves have these bits. */
static void map(uint32_t levels, uint64_t leaf)
{
	uint64_t table = RAM_BASE + 0x8000;

	host_csrs[CSR_VSATP] = (uint64_t)(levels + 5) << 60 | table >> 12;
	for (uint32_t level = levels - 1; level; level--) {
		uint64_t next = table + 0x1000;

		*word(table + (STACK >> (12 + 9 * level) & 511) * 8) = next >> 12 << 10 | 1;
		table = next;
	}
	*word(table) = (RAM_BASE + 0x3000) >> 12 << 10 | leaf;
	*word(table + 8) = (RAM_BASE + 0x1000) >> 12 << 10 | leaf;
}

#define VRW  0x7U
#define VRWU 0x17U
#define VX   0x9U

static void test_page_tables(void **state)
{
	(void)state;
	for (uint32_t levels = 3; levels <= 5; levels++) {
		setup(NULL);
		map(levels, VRW);
		/* One in the middle of the first page, one across both, one in the second. */
		frame(RAM_BASE + 0x3100, KERNEL + 2, STACK + 0x1008);
		*word(RAM_BASE + 0x1000) = KERNEL + 4;
		*word(RAM_BASE + 0x3ff8) = STACK + 0x1200;
		frame(RAM_BASE + 0x1200, KERNEL + 6, 0);
		assert_int_equal(unwind(&vcpu, STACK + 0x100, false, chain, 64), 3);
		assert_int_equal(chain[0], KERNEL + 2);
		assert_int_equal(chain[1], KERNEL + 4);
		assert_int_equal(chain[2], KERNEL + 6);
		/* Not with the rights of the other mode. */
		assert_int_equal(unwind(&vcpu, STACK + 0x100, true, chain, 64), 0);
		/* Nor where the upper bits are others. */
		assert_int_equal(unwind(&vcpu, (STACK & ~(3UL << 62)) + 0x100, false, chain, 64),
		                 0);
	}
	map(3, VRWU);
	assert_int_equal(unwind(&vcpu, STACK + 0x100, true, chain, 64), 3);
	map(3, VX);
	assert_int_equal(unwind(&vcpu, STACK + 0x100, false, chain, 64), 0);
	host_csrs[CSR_VSATP] |= 7UL << 60;
	assert_int_equal(unwind(&vcpu, STACK + 0x100, false, chain, 64), 0);
}

/* A leaf for 1 GiB, and one that is not aligned to that. */
/* At the end of a page: of four bytes, two of which are on the next one, which is the one before in
 * memory; and compressed ones. */
static void test_instructions(void **state)
{
	const uint64_t pc = STACK + 0xffe;

	(void)state;
	*word(RAM_BASE + 0x3ff8) = 0xa073000000000000;
	*word(RAM_BASE + 0x1000) = 0x00010001deadc0de;
	for (uint32_t levels = 3; levels <= 5; levels++) {
		map(levels, VX);
		assert_int_equal(unwind_insn(&vcpu, pc, false), 0xc0dea073);
		assert_int_equal(unwind_insn(&vcpu, pc + 6, false), 1);
		assert_int_equal(unwind_insn(&vcpu, pc, true), 0);
		assert_int_equal(unwind_insn(&vcpu, STACK + 0x1fff, false), 0);
	}
	map(3, VRW);
	assert_int_equal(unwind_insn(&vcpu, pc, false), 0);
	/* Tables outside of its RAM, or of no kind. */
	host_csrs[CSR_VSATP] = 8UL << 60 | 0x100000;
	assert_int_equal(unwind_insn(&vcpu, pc, false), 0);
	host_csrs[CSR_VSATP] = 7UL << 60;
	assert_int_equal(unwind_insn(&vcpu, pc, false), 0);
	host_csrs[CSR_VSATP] = 0;
	assert_int_equal(unwind_insn(&vcpu, RAM_BASE + 0x1006, true), 1);
	assert_int_equal(unwind_insn(&vcpu, RAM_BASE + RAM_BYTES, true), 0);
}

static void test_large_pages(void **state)
{
	uint64_t root = RAM_BASE + 0x8000;

	(void)state;
	host_csrs[CSR_VSATP] = 8UL << 60 | root >> 12;
	*word(root + 8 * 2) = RAM_BASE >> 12 << 10 | VRW;
	frame(RAM_BASE + 0x1000, KERNEL + 2, RAM_BASE + 0x2000);
	frame(RAM_BASE + 0x2000, KERNEL + 4, 0);
	assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1000, false, chain, 64), 2);
	*word(root + 8 * 2) = (RAM_BASE + 0x1000) >> 12 << 10 | VRW;
	assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1000, false, chain, 64), 0);
}

static void test_hostile(void **state)
{
	static const uint64_t beyond[] = {0,
	                                  8,
	                                  16,
	                                  0x10000010,
	                                  RAM_BASE,
	                                  RAM_BASE + 8,
	                                  RAM_BASE + RAM_BYTES + 8,
	                                  ~7UL,
	                                  RAM_BASE + 0x1001};

	(void)state;
	for (uint32_t i = 0; i < sizeof(beyond) / sizeof(beyond[0]); i++) {
		frame(RAM_BASE + 0x1000, KERNEL + 2, beyond[i]);
		assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1000, false, chain, 64), 1);
	}
	/* In a circle. */
	frame(RAM_BASE + 0x1000, KERNEL + 2, RAM_BASE + 0x1000);
	assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1000, false, chain, 64), 64);
	/* From one page to the other: both words of a frame are in one. */
	frame(RAM_BASE + 0x1100, KERNEL + 2, RAM_BASE + 0x2100);
	frame(RAM_BASE + 0x2100, KERNEL + 2, RAM_BASE + 0x1100);
	assert_int_equal(unwind(&vcpu, RAM_BASE + 0x1100, false, chain, 64), UNWIND_WALKS);
	/* What is no address of code ends it. */
	map(3, VRW);
	frame(RAM_BASE + 0x3100, KERNEL + 3, STACK + 0x100);
	assert_int_equal(unwind(&vcpu, STACK + 0x100, false, chain, 64), UNWIND_CUT);
	frame(RAM_BASE + 0x3100, 0x1234567800000000, STACK + 0x100);
	assert_int_equal(unwind(&vcpu, STACK + 0x100, false, chain, 64), UNWIND_CUT);
	/* A table in a circle. */
	host_csrs[CSR_VSATP] = 10UL << 60 | (RAM_BASE + 0x8000) >> 12;
	for (uint32_t i = 0; i < 512; i++)
		*word(RAM_BASE + 0x8000 + 8 * i) = (RAM_BASE + 0x8000) >> 12 << 10 | 1;
	lookups = 0;
	assert_int_equal(unwind(&vcpu, STACK + 0x100, false, chain, 64), 0);
	assert_int_equal(lookups, 5);
}

/* What is no code ends the chain and is told, but for the 0 of the outermost frame. */
static void test_no_code(void **state)
{
	static const struct {
		uint64_t ra;
		bool code, paged;
	} words[] = {
	    {0, false, false},        {1, false, false},      {2, true, false},
	    {-100UL, false, false},   {-2UL, false, false},   {-4094UL, false, false},
	    {-4096UL, true, false},   {-4098UL, true, false}, {1UL << 50, true, false},
	    {1UL << 50, false, true}, {KERNEL, true, true},   {KERNEL + 1, false, true},
	    {-4094UL, false, true},   {-4096UL, true, true},
	};

	(void)state;
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		uint32_t cut = words[i].ra && !words[i].code ? UNWIND_CUT : 0;
		uint64_t fp = words[i].paged ? STACK : RAM_BASE + 0x3000;

		setup(NULL);
		memset(chain, 0, sizeof(chain));
		if (words[i].paged)
			map(3, VRW);
		frame(RAM_BASE + 0x3100, KERNEL + 2, fp + 0x200);
		frame(RAM_BASE + 0x3200, words[i].ra, fp + 0x300);
		frame(RAM_BASE + 0x3300, KERNEL + 4, 0);
		assert_int_equal(unwind(&vcpu, fp + 0x100, false, chain, 64),
		                 words[i].code ? 3 : 1 | cut);
		assert_int_equal(chain[1], words[i].code ? words[i].ra : 0);
		/* No more were asked for. */
		assert_int_equal(unwind(&vcpu, fp + 0x100, false, chain, 1), 1);
	}
}

/* Tables and leaves that are no RAM, at each level, and a leaf at each level. */
static void test_tables_elsewhere(void **state)
{
	static const uint64_t no_ram[] = {
	    0, 0x10000000, 0x0c000000, RAM_BASE + RAM_BYTES, RAM_BASE - 0x1000, 0x00fffffffffff000};

	(void)state;
	for (uint32_t i = 0; i < sizeof(no_ram) / sizeof(no_ram[0]); i++) {
		for (uint32_t levels = 3; levels <= 5; levels++) {
			for (uint32_t at = 0; at < levels; at++) {
				uint32_t level = levels - 1 - at;
				uint64_t table = RAM_BASE + 0x8000 + 0x1000 * at;

				setup(NULL);
				map(levels, VRW);
				*word(table + (STACK >> (12 + 9 * level) & 511) * 8) =
				    no_ram[i] >> 12 << 10 | (level ? 1 : VRW);
				assert_int_equal(unwind(&vcpu, STACK + 0x100, false, chain, 64), 0);
				assert_true(lookups <= levels + 1);
			}
			/* And the root. */
			setup(NULL);
			host_csrs[CSR_VSATP] =
			    (uint64_t)(levels + 5) << 60 | (no_ram[i] >> 12 & ((1UL << 44) - 1));
			assert_int_equal(unwind(&vcpu, STACK + 0x100, false, chain, 64), 0);
			assert_int_equal(lookups, 1);
		}
	}
}

/* Random memory, which others write between any two reads of HS. */
static void test_changing(void **state)
{
	uint32_t longest = 0;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		uint64_t fp = RAM_BASE + 8 * below(&luck, RAM_WORDS);
		uint32_t n;

		changes = false;
		if (i % 64 == 0)
			for (uint32_t k = 0; k < RAM_WORDS; k++)
				ram[k] = below(&luck, 9) ? RAM_BASE + 8 * below(&luck, RAM_WORDS)
				                         : chance(&luck);
		changes = i % 64 > 32;
		host_csrs[CSR_VSATP] =
		    (uint64_t)below(&luck, 12) << 60 | ((RAM_BASE >> 12) + below(&luck, 16));
		lookups = 0;
		n = unwind(&vcpu, below(&luck, 4) ? fp : chance(&luck), below(&luck, 2), chain,
		           below(&luck, UNWIND_MOST + 1)) &
		    ~UNWIND_CUT;
		longest = n > longest ? n : longest;
		assert_true(n <= UNWIND_MOST);
		assert_true(lookups <= 6 * (UNWIND_WALKS + 1));
	}
	assert_true(longest > 10);
	/* The tables of five levels and the page, for three pages. */
	assert_in_range(most_lookups, 12, 18);
	for (uint32_t k = RAM_WORDS; k < RAM_WORDS + 512; k++)
		assert_int_equal(ram[k], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(test_without_page_tables, setup),
	    cmocka_unit_test_setup(test_page_tables, setup),
	    cmocka_unit_test_setup(test_instructions, setup),
	    cmocka_unit_test_setup(test_large_pages, setup),
	    cmocka_unit_test_setup(test_hostile, setup),
	    cmocka_unit_test_setup(test_no_code, setup),
	    cmocka_unit_test_setup(test_tables_elsewhere, setup),
	    cmocka_unit_test_setup(test_changing, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
