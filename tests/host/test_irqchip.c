/* SPDX-License-Identifier: Apache-2.0 */
/* Identities of HS's own messages (arch/riscv/devices/irqchip.c): sources whose messages go
 * straight to guests take none. The registers are an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "arch/riscv/devices/irqchip.h"
#include "arch/riscv/hart/csr.h"

#define SOURCECFG(source) (4 * (source) / 4)
#define TARGET(source)    ((0x3000 + 4 * (source)) / 4)
#define CLRIENUM          (0x1fdc / 4)
#define UNTOUCHED         0x12345678U

uint64_t host_csrs[4096];

static uint32_t registers[0x8000 / 4];
static struct irqchip chip;

void host_wfi(void)
{
	abort();
}

static int begin(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		registers[i] = UNTOUCHED;
	chip = (struct irqchip){.kind = IRQCHIP_IMSIC, .base = (uint64_t)registers};
	return 0;
}

static void all_identities(void **state)
{
	struct irqchip_source source;

	(void)state;
	for (uint32_t i = 1; i <= IRQCHIP_MESSAGES; i++) {
		assert_true(irqchip_use(&chip, &source, i, IRQCHIP_HIGH));
		assert_int_equal(source.message, i);
		assert_int_equal(chip.source_of[i], i);
		assert_int_equal(registers[SOURCECFG(i)], IRQCHIP_HIGH);
	}
	assert_false(irqchip_use(&chip, &source, 100, IRQCHIP_HIGH));
	assert_int_equal(registers[SOURCECFG(100)], UNTOUCHED);
}

static void none_for_guests(void **state)
{
	struct irqchip_source source;

	for (uint32_t i = 200; i < 300; i++) {
		assert_true(irqchip_use(&chip, &source, i, IRQCHIP_OFF));
		assert_int_equal(source.number, i);
		assert_int_equal(source.message, 0);
		assert_int_equal(registers[CLRIENUM], i);
		assert_int_equal(registers[SOURCECFG(i)], 0);
		assert_int_equal(registers[TARGET(i)], UNTOUCHED);
	}
	all_identities(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(all_identities, begin),
	    cmocka_unit_test_setup(none_for_guests, begin),
	};

	return cmocka_run_group_tests_name("irqchip", tests, NULL, NULL);
}
