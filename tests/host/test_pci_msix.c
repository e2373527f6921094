/* SPDX-License-Identifier: Apache-2.0 */
/* The steps in which an MSI-X table is cleared (arch/riscv/devices/pci_reset.h): each is short for
 * the device's bus, and all together clear the table and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/devices/pci_reset.h"
#include "arch/riscv/hart/fence.h"

#define TABLE   UINT64_C(0x40000800)
#define MOST    2048U
#define MASKED  1U
#define LONGEST 64U /* accesses in a step */

static uint32_t words[4 * MOST + 4], accesses;

void host_fence(void)
{
}

void host_fence_devices(void)
{
}

void pci_write32(uint64_t page, uint32_t offset, uint32_t value)
{
	assert_true(page == TABLE && offset < sizeof(words));
	words[offset / 4] = value;
	accesses++;
}

void pci_write16(uint64_t page, uint32_t offset, uint16_t value)
{
	(void)page, (void)offset, (void)value;
	abort();
}

void pci_write8(uint64_t page, uint32_t offset, uint8_t value)
{
	(void)page, (void)offset, (void)value;
	abort();
}

uint32_t pci_read32(uint64_t page, uint32_t offset)
{
	(void)page, (void)offset;
	abort();
}

uint16_t pci_read16(uint64_t page, uint32_t offset)
{
	(void)page, (void)offset;
	abort();
}

uint8_t pci_read8(uint64_t page, uint32_t offset)
{
	(void)page, (void)offset;
	abort();
}

static void steps(void **state)
{
	const uint32_t vectors[] = {1, 15, 16, 17, MOST};

	(void)state;
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		struct pci_function f = {.bars = {[1] = {.size = 0x10000, .at = 0x40000000}},
		                         .msix = 0x60,
		                         .msix_vectors = vectors[i],
		                         .msix_bar = 1,
		                         .msix_offset = 0x800};
		uint32_t next = 0, n = 0;
		bool done;

		memset(words, 0xff, sizeof(words));
		do {
			accesses = 0;
			done = pci_clear_msix(&f, &next);
			assert_in_range(accesses, 1, LONGEST);
			assert_true(n++ < MOST);
		} while (!done);
		for (uint32_t k = 0; k < 4 * vectors[i]; k++)
			assert_int_equal(words[k], k % 4 == 3 ? MASKED : 0);
		assert_int_equal(words[4 * vectors[i]], ~0U);
	}
}

static void no_table(void **state)
{
	struct pci_function f = {0};
	uint32_t next = 0;

	(void)state;
	accesses = 0;
	assert_true(pci_clear_msix(&f, &next));
	assert_int_equal(accesses, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(steps),
	    cmocka_unit_test(no_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
