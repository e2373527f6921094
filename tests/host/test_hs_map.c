/* SPDX-License-Identifier: Apache-2.0 */
/* The map of HS itself, walked as a hart does: the privileged manual, "Virtual Address Translation
 * Process". */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/hs_map.h"
#include "core/panic.h"

#define SATP_SV39 8UL
#define NOTHING   0U

uint64_t host_csrs[4096];
static uint64_t modes; /* bit n: the hart has this mode of satp */
static uint32_t fences, fences_before_satp;
static uint32_t tables;
static jmp_buf panicked;

void host_wfi(void)
{
	abort();
}

void host_fence(void)
{
	fences++;
}

/* A mode that the hart does not have: the write has no effect. */
void host_csr_write(uint32_t csr, uint64_t value)
{
	assert_int_equal(csr, CSR_SATP);
	fences_before_satp = fences;
	if (modes >> (value >> 60) & 1)
		host_csrs[csr] = value;
}

void panic(const char *format, ...)
{
	(void)format;
	longjmp(panicked, 1);
}

static void *alloc(size_t size)
{
	static _Alignas(PAGE_SIZE) uint8_t pages[16][PAGE_SIZE];

	assert_int_equal(size, PAGE_SIZE);
	assert_true(tables < ARRAY_SIZE(pages));
	return memset(pages[tables++], 0, size);
}

/* What HS may do there; the address must be its own. *size becomes that of the leaf. */
static uint32_t walk(const struct hs_map *map, uint64_t address, uint64_t *size)
{
	const uint64_t *table = (const uint64_t *)((map->satp & 0xfffffffffffUL) * PAGE_SIZE);

	for (uint32_t level = (uint32_t)(map->satp >> 60) - 5;; level--) {
		uint64_t pte = table[address >> (12 + 9 * (level - 1)) & 511];
		uint64_t at = pte >> 10 << 12, access = pte & 14;

		*size = 1UL << (12 + 9 * (level - 1));
		if (!(pte & 1))
			return NOTHING;
		if (access) {
			/* Not for U-mode, not global, accessed, dirty; the rest is reserved. */
			assert_int_equal(pte & ~14UL & 0xffc00000000003ffUL, 0xc1);
			assert_int_equal(at & (*size - 1), 0);
			assert_int_equal(at | (address & (*size - 1)), address);
			return access;
		}
		assert_true(level > 1);
		table = (const uint64_t *)at;
	}
}

static struct hs_map begin(uint64_t last)
{
	struct hs_map map;

	tables = 0;
	assert_true(hs_map_init(&map, last, alloc));
	return map;
}

static void assert_leaf(const struct hs_map *map, uint64_t address, uint32_t access, uint64_t size)
{
	uint64_t found;

	assert_int_equal(walk(map, address, &found), access);
	if (access != NOTHING)
		assert_int_equal(found, size);
}

static void pages_of_all_sizes(void **state)
{
	struct hs_map map = begin(GIB(4) - 1);

	(void)state;
	hs_map_add(&map, 0x80200000, 0x3000, HS_READ_EXECUTE, alloc);
	hs_map_add(&map, 0x80203000, 0x1000, HS_READ, alloc);
	/* 4 KiB pages up to 0x80400000, 2 MiB up to 3 GiB, one of 1 GiB less 2 MiB and 4 KiB. */
	hs_map_add(&map, 0x80205000, 0xff9ff000 - 0x80205000, HS_READ_WRITE, alloc);
	assert_leaf(&map, 0x801fffff, NOTHING, 0);
	assert_leaf(&map, 0x80200000, HS_READ_EXECUTE, KIB(4));
	assert_leaf(&map, 0x80202fff, HS_READ_EXECUTE, KIB(4));
	assert_leaf(&map, 0x80203000, HS_READ, KIB(4));
	assert_leaf(&map, 0x80204000, NOTHING, 0);
	assert_leaf(&map, 0x80204fff, NOTHING, 0);
	assert_leaf(&map, 0x80205000, HS_READ_WRITE, KIB(4));
	assert_leaf(&map, 0x803fffff, HS_READ_WRITE, KIB(4));
	assert_leaf(&map, 0x80400000, HS_READ_WRITE, MIB(2));
	assert_leaf(&map, 0xbfffffff, HS_READ_WRITE, MIB(2));
	assert_leaf(&map, 0xff7fffff, HS_READ_WRITE, MIB(2));
	assert_leaf(&map, 0xff800000, HS_READ_WRITE, KIB(4));
	assert_leaf(&map, 0xff9fefff, HS_READ_WRITE, KIB(4));
	assert_leaf(&map, 0xff9ff000, NOTHING, 0);
	/* The root; of 2 and of 3 GiB; of the first and of the last 2 MiB. */
	assert_int_equal(tables, 5);
}

static void one_gib(void **state)
{
	struct hs_map map = begin(GIB(4) - 1);

	(void)state;
	hs_map_add(&map, GIB(1) - MIB(2), GIB(2) + MIB(2), HS_READ_WRITE, alloc);
	assert_leaf(&map, GIB(1) - 1, HS_READ_WRITE, MIB(2));
	assert_leaf(&map, GIB(1), HS_READ_WRITE, GIB(1));
	assert_leaf(&map, GIB(3) - 1, HS_READ_WRITE, GIB(1));
	assert_leaf(&map, GIB(3), NOTHING, 0);
	assert_int_equal(tables, 2);
}

/* The least that reaches the last address, which must be in the lower half. */
static void modes_by_address(void **state)
{
	struct hs_map map;
	static const struct {
		uint64_t last;
		uint32_t mode;
	} rows[] = {
	    {BIT(38) - 1, 8}, {BIT(38), 9}, {BIT(47) - 1, 9}, {BIT(47), 10}, {BIT(56) - 1, 10},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint64_t page = ALIGN_DOWN(rows[i].last, PAGE_SIZE);

		map = begin(rows[i].last);
		assert_int_equal(map.satp >> 60, rows[i].mode);
		hs_map_add(&map, page, PAGE_SIZE, HS_READ, alloc);
		assert_leaf(&map, page, HS_READ, KIB(4));
		assert_int_equal(tables, rows[i].mode - 5);
	}
	assert_false(hs_map_init(&map, BIT(56), alloc));
	assert_false(hs_map_init(&map, ~0UL, alloc));
}

static void twice(void **state)
{
	static const uint64_t again[][2] = {
	    {0x200000, 0x1000}, {0x3ff000, 0x1000}, {0x200000, 0x200000}};

	(void)state;
	for (volatile size_t i = 0; i < ARRAY_SIZE(again); i++) {
		struct hs_map map = begin(GIB(1));

		hs_map_add(&map, 0x200000, 0x200000, HS_READ, alloc);
		if (!setjmp(panicked)) {
			hs_map_add(&map, again[i][0], again[i][1], HS_READ_WRITE, alloc);
			fail();
		}
	}
}

static void a_hart_takes_it_or_not(void **state)
{
	struct hs_map map = begin(GIB(1));

	(void)state;
	host_csrs[CSR_SATP] = 0;
	fences = 0;
	modes = BIT(0);
	assert_false(hs_map_use(&map));
	assert_int_equal(host_csrs[CSR_SATP], 0);
	modes |= BIT(SATP_SV39);
	fences = 0;
	assert_true(hs_map_use(&map));
	assert_int_equal(host_csrs[CSR_SATP], map.satp);
	assert_int_equal(fences_before_satp, 1);
	assert_int_equal(fences, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pages_of_all_sizes),     cmocka_unit_test(one_gib),
	    cmocka_unit_test(modes_by_address),       cmocka_unit_test(twice),
	    cmocka_unit_test(a_hart_takes_it_or_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
