/* SPDX-License-Identifier: Apache-2.0 */
/* What boot takes from the trees of boards that users have (dts/boards). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arch/riscv/hart/isa.h"
#include "core/boot/steps.h"
#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "tests/host/board.h"
#include "tests/host/host_dt.h"

struct expected {
	const char *tree;
	uint64_t ram, ram_end;
	uint32_t harts; /* that can run guests, from hart 0 on */
	uint64_t isa, lacks;
	uint32_t timebase;
	enum irqchip_kind chip;
	uint64_t chip_base;
	uint64_t uart;
	uint32_t uart_irq;
};

/* UARTs have registers of 4 bytes each on all of them. */
static void assert_board(const struct expected *want)
{
	const struct vm_range *bank;

	use_tree(want->tree);
	assert_string_equal(start(want->ram + MIB(2), 0), "");
	bank = vm_bank_of(&platform.ram, want->ram + MIB(2));
	assert_non_null(bank);
	assert_int_equal(bank->from, want->ram);
	assert_int_equal(bank->to, want->ram_end);
	assert_true(platform.n_harts >= want->harts);
	for (uint32_t i = 0; i < platform.n_harts; i++) {
		assert_int_equal(platform.harts[i].hartid, i);
		assert_int_equal(!unusable(i), i < want->harts);
		if (i >= want->harts)
			continue;
		assert_int_equal(platform.harts[i].isa & (want->isa | want->lacks), want->isa);
		assert_int_not_equal(platform.harts[i].irq_place, IRQCHIP_NOWHERE);
	}
	assert_int_equal(platform.timebase, want->timebase);
	assert_int_equal(platform.irqchip.kind, want->chip);
	assert_int_equal(platform.irqchip.base, want->chip_base);
	assert_int_equal(platform.uart_base, want->uart);
	assert_int_equal(platform.uart_shift, 2);
	assert_int_equal(platform.uart_width, 4);
	assert_int_equal(platform.uart_irq, want->uart_irq);
}

static void p550(void **state)
{
	(void)state;
	assert_board(&(struct expected){
	    .tree = "dts/boards/p550.dts",
	    .ram = 0x80000000,
	    .ram_end = 0x480000000,
	    .harts = 4,
	    .isa = BIT(ISA_H) | BIT(ISA_SSCOFPMF) | isa_named("zba") | isa_named("zbb"),
	    .lacks = BIT(ISA_SSTC) | BIT(ISA_SSAIA) | BIT(ISA_SMCNTRPMF) | BIT(ISA_SSCCFG),
	    .timebase = 1000000,
	    .chip = IRQCHIP_PLIC,
	    .chip_base = 0xc000000,
	    .uart = 0x50900000,
	    .uart_irq = 100,
	});
	assert_string_equal(platform.mmu_type, "riscv,sv48");
	/* The PLIC has contexts of M-mode, too. */
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(platform.harts[i].irq_place, 2 * i + 1);
}

static void k3(void **state)
{
	(void)state;
	assert_board(&(struct expected){
	    .tree = "dts/boards/k3.dts",
	    .ram = 0x100000000,
	    .ram_end = 0x500000000,
	    .harts = 8,
	    .isa = BIT(ISA_H) | BIT(ISA_V) | BIT(ISA_SSCOFPMF) | BIT(ISA_SSAIA) | BIT(ISA_SSTC),
	    .lacks = BIT(ISA_SMCNTRPMF) | BIT(ISA_SSCCFG) | BIT(ISA_SVADU),
	    .timebase = 24000000,
	    .chip = IRQCHIP_IMSIC,
	    .chip_base = 0xe0804000,
	    .uart = 0xd4017000,
	    .uart_irq = 42,
	});
	assert_int_equal(platform.imsic.base, 0xe0400000);
	assert_int_equal(platform.imsic.ids, 511);
	assert_int_equal(platform.imsic.file_bits, 6);
	assert_int_equal(platform.harts[7].irq_place, 7);
	/* Built for RAM elsewhere it does not run at all. */
	assert_string_equal(start(0x80200000, 0),
	                    "host tree: no memory node holds Tally's own address");
}

static void kunminghu(void **state)
{
	(void)state;
	assert_board(&(struct expected){
	    .tree = "dts/boards/xiangshan-kunminghu.dts",
	    .ram = 0x80000000,
	    .ram_end = 0xc0000000,
	    .harts = MAX_HARTS < 16 ? MAX_HARTS : 16,
	    .isa = BIT(ISA_H) | BIT(ISA_V) | BIT(ISA_SSCOFPMF) | BIT(ISA_SSAIA) | BIT(ISA_SSTC),
	    .lacks = BIT(ISA_SMCNTRPMF) | BIT(ISA_SSCCFG) | BIT(ISA_SVADU),
	    .timebase = 1000000,
	    .chip = IRQCHIP_IMSIC,
	    .chip_base = 0x31120000,
	    .uart = 0x310b0000,
	    .uart_irq = 10,
	});
	assert_int_equal(platform.imsic.base, 0x3b000000);
	assert_int_equal(platform.imsic.ids, 255);
	assert_int_equal(platform.imsic.file_bits, 3);
}

/* The bank where Tally is loaded is the second in the tree. */
static void atlantis(void **state)
{
	(void)state;
	assert_board(&(struct expected){
	    .tree = "dts/boards/tt-atlantis.dts",
	    .ram = 0,
	    .ram_end = 0x80000000,
	    .harts = 8,
	    .isa = BIT(ISA_H) | BIT(ISA_V) | BIT(ISA_SSCOFPMF) | BIT(ISA_SSAIA) | BIT(ISA_SSTC),
	    .lacks = BIT(ISA_SMCNTRPMF) | BIT(ISA_SSCCFG) | BIT(ISA_SVADU),
	    .timebase = 1000000000,
	    .chip = IRQCHIP_IMSIC,
	    .chip_base = 0xe8000000,
	    .uart = 0xd4110000,
	    .uart_irq = 39,
	});
	assert_int_equal(platform.imsic.base, 0xa4000000);
	assert_int_equal(platform.imsic.ids, 255);
	assert_int_equal(platform.imsic.file_bits, 6);
	assert_string_equal(platform.mmu_type, "riscv,sv57");
}

int test_host_boards(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(p550),
	    cmocka_unit_test(k3),
	    cmocka_unit_test(kunminghu),
	    cmocka_unit_test(atlantis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
