/* SPDX-License-Identifier: Apache-2.0 */
/* What a VM, and the IOMMU for its functions, may do with each page of memory that it shares. The
 * table is walked here as the hart does it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/gstage.h"
#include "core/panic.h"

#define READ    2U
#define WRITE   4U
#define EXECUTE 8U
#define NOTHING 0U
#define PAGE    UINT64_C(4096)
#define BLOCK   UINT64_C(0x200000)
#define HOST    UINT64_C(0x91200000)

uint64_t host_csrs[4096];
static jmp_buf *panics;
static void *blocks[64];
static uint32_t n_blocks;
static struct gstage gs;

void host_wfi(void)
{
	abort();
}

void host_fence(void)
{
	abort();
}

void host_csr_write(uint32_t csr, uint64_t value)
{
	(void)csr;
	(void)value;
	abort();
}

void panic(const char *format, ...)
{
	(void)format;
	if (!panics)
		abort();
	longjmp(*panics, 1);
}

static void *alloc(size_t size)
{
	assert_true(n_blocks < sizeof(blocks) / sizeof(blocks[0]));
	blocks[n_blocks] = aligned_alloc(size, size);
	return memset(blocks[n_blocks++], 0, size);
}

static int make(void **state)
{
	(void)state;
	gstage_init(&gs, 1, alloc);
	return 0;
}

static int unmake(void **state)
{
	(void)state;
	panics = NULL;
	while (n_blocks)
		free(blocks[--n_blocks]);
	return 0;
}

/* Sv39x4: 2048 entries, then 512 and 512. Returns what may be done at an address, and where it is.
 */
static uint32_t walk(uint64_t gpa, uint64_t *host)
{
	const uint64_t *table = gs.root;
	uint64_t index = gpa >> 30;

	*host = 0;
	for (uint32_t shift = 30;; shift -= 9) {
		uint64_t entry = table[index], span = UINT64_C(1) << shift;

		if (!(entry & 1))
			return NOTHING;
		if (entry & (READ | WRITE | EXECUTE)) {
			/* U, A and D: no walk needs to change it. */
			assert_int_equal(entry & 0xd0, 0xd0);
			*host = (entry >> 10 << 12) + gpa % span;
			assert_int_equal((entry >> 10 << 12) % span, 0);
			return entry & (READ | WRITE | EXECUTE);
		}
		assert_true(shift > 12);
		table = (const uint64_t *)(entry >> 10 << 12);
		index = gpa >> (shift - 9) & 511;
	}
}

static void is(uint64_t gpa, uint32_t may, uint64_t at)
{
	uint64_t host;

	assert_int_equal(walk(gpa, &host), may);
	assert_int_equal(host, at);
}

static void each_page(void **state)
{
	static const uint64_t sizes[] = {PAGE,  3 * PAGE,     BLOCK - PAGE,
	                                 BLOCK, BLOCK + PAGE, 5 * BLOCK + 7 * PAGE};
	static const uint64_t places[] = {0, 0x10200000, 0x3fe00000, 0x1ffff000000};

	for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (uint32_t n = 0; n < 2 * sizeof(places) / sizeof(places[0]); n++) {
			uint64_t at = places[n / 2], size = sizes[i];
			uint32_t may = n & 1 ? READ | WRITE : READ;

			make(state);
			gstage_map_data(&gs, (gpa_t){at}, (hpa_t){HOST}, size, n & 1, alloc);
			for (uint64_t page = 0; page < size; page += PAGE)
				is(at + page, may, HOST + page);
			is(at + size - 1, may, HOST + size - 1);
			is(at + size, NOTHING, 0);
			if (at)
				is(at - 1, NOTHING, 0);
			unmake(state);
		}
	}
}

/* Memory of its own above, and registers of a device in the rest of a block. */
static void beside_others(void **state)
{
	(void)state;
	gstage_map(&gs, (gpa_t){0x80000000}, (hpa_t){HOST + 4 * BLOCK}, BLOCK, alloc);
	gstage_map_data(&gs, (gpa_t){0x80200000}, (hpa_t){HOST}, 2 * PAGE, false, alloc);
	gstage_map_data(&gs, (gpa_t){0x80202000}, (hpa_t){0x80202000}, PAGE, true, alloc);
	is(0x801fffff, READ | WRITE | EXECUTE, HOST + 5 * BLOCK - 1);
	is(0x80200000, READ, HOST);
	is(0x80201fff, READ, HOST + 2 * PAGE - 1);
	is(0x80202000, READ | WRITE, 0x80202000);
	is(0x80203000, NOTHING, 0);
}

/* The VM tree has been checked; if it was not, nothing is mapped over anything. */
static bool refuses(uint64_t at, uint64_t size)
{
	jmp_buf back;

	panics = &back;
	if (setjmp(back))
		return true;
	gstage_map_data(&gs, (gpa_t){at}, (hpa_t){HOST}, size, true, alloc);
	return false;
}

static void over_others(void **state)
{
	(void)state;
	gstage_map(&gs, (gpa_t){0x80000000}, (hpa_t){HOST + 4 * BLOCK}, BLOCK, alloc);
	gstage_map_data(&gs, (gpa_t){0x80400000}, (hpa_t){HOST}, PAGE, false, alloc);
	assert_true(refuses(0x80000000, PAGE));
	assert_true(refuses(0x80000000, BLOCK));
	assert_true(refuses(0x80400000, PAGE));
	assert_true(refuses(0x80400000, BLOCK));
	is(0x80400000, READ, HOST);
	assert_false(refuses(0x80200000, BLOCK));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_page),
	    cmocka_unit_test_setup_teardown(beside_others, make, unmake),
	    cmocka_unit_test_setup_teardown(over_others, make, unmake),
	};

	return cmocka_run_group_tests_name("shared memory in the second stage", tests, NULL, NULL);
}
