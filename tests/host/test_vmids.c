/* SPDX-License-Identifier: Apache-2.0 */
/* How a hart's VMIDs are counted (arch/riscv/hart/gstage.h): what is written to hgatp is always
 * valid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/gstage.h"
#include "core/panic.h"

#define MODE(hgatp) ((hgatp) >> 60)
#define VMID(hgatp) ((hgatp) >> 44 & 0x3fff)
#define PPN(hgatp)  ((hgatp)&0xfffffffffffUL)
#define BARE        0UL
#define SV39X4      8UL

uint64_t host_csrs[4096];
static unsigned int vmid_bits; /* that the hart has */
static uint64_t hgatp;         /* as written last */
static bool fenced;            /* since its MODE changed */

void host_wfi(void)
{
	abort();
}

void panic(const char *format, ...)
{
	(void)format;
	abort();
}

void host_fence(void)
{
	fenced = true;
}

/* The hart may walk the table from now on, so it must map nothing. */
static void check_root(uint64_t ppn)
{
	const uint64_t *root = (const uint64_t *)(uintptr_t)(ppn << 12);

	assert_int_equal(ppn & 3, 0);
	for (size_t i = 0; i < GSTAGE_ROOT_SIZE / sizeof(*root); i++)
		assert_int_equal(root[i] & 1, 0);
}

/* The privileged manual, hgatp: with MODE = Bare the remaining fields are zero. */
void host_csr_write(uint32_t csr, uint64_t value)
{
	assert_int_equal(csr, 0x680);
	if (MODE(value) == BARE) {
		assert_true(value == 0);
	} else {
		assert_int_equal(MODE(value), SV39X4);
		check_root(PPN(value));
	}
	if (MODE(value) != MODE(hgatp))
		fenced = false;
	hgatp = value;
	host_csrs[csr] = value & ~(0x3fffUL << 44);
	host_csrs[csr] |= (VMID(value) & ((1UL << vmid_bits) - 1)) << 44;
}

static void all_lengths(void **state)
{
	(void)state;
	for (vmid_bits = 0; vmid_bits <= 14; vmid_bits++) {
		hgatp = 0;
		assert_int_equal(gstage_vmid_count(), 1U << vmid_bits);
		assert_true(hgatp == 0);
		assert_true(fenced);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_lengths),
	};

	return cmocka_run_group_tests_name("VMIDs", tests, NULL, NULL);
}
