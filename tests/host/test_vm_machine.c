/* SPDX-License-Identifier: Apache-2.0 */
/* The VM tree's parser: `machine`, and where a device of the host is in QEMU's machine "virt". */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/tree/vm_machine.h"
#include "tests/host/board.h"
#include "tests/host/vm_tree.h"

#define ALPHA  "/vms/alpha"
#define BETA   "/vms/beta"
#define SERIAL "/soc/bus@20000000/inner@10000/serial@8000"

/* Gives beta the UART, which has two interrupts, and one life, since Tally knows no reset of it. */
static const char *give_serial(void *t)
{
	set_string(t, BETA, "restart", "never");
	set_u32(t, BETA, "restart-limit", 0);
	return give(t, BETA, "serial", SERIAL, "none");
}

static void words(void **state)
{
	void *t = good_tree();

	(void)state;
	test_host = NULL;
	assert_false(accepted(t)->vms[1].virt);
	set_string(t, BETA, "machine", "tally");
	assert_false(accepted(t)->vms[1].virt);
	set_string(t, BETA, "machine", "virt");
	assert_true(accepted(t)->vms[1].virt);
	assert_false(accepted(t)->vms[0].virt);
	set_string(t, BETA, "machine", "qemu");
	refused(t, VM_REFUSED_VALUE, "/vms/beta: machine: is not \"tally\" or \"virt\"");
}

static void not_with_an_aia(void **state)
{
	void *t = good_tree();

	(void)state;
	test_host = NULL;
	set_string(t, BETA, "interrupts", "aia");
	set_string(t, BETA, "machine", "tally");
	assert_true(accepted(t)->vms[1].aia);
	set_string(t, BETA, "machine", "virt");
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta: machine: \"virt\" has a PLIC, and interrupts is \"aia\"");
	set_string(t, BETA, "interrupts", "plic");
	assert_true(accepted(t)->vms[1].virt);
}

/* Moves the board's clock, and returns beta, which has it. */
static const struct vm_config *clock_at(const void *t, uint32_t address)
{
	const fdt32_t reg[] = {0, cpu_to_fdt32(address), 0, cpu_to_fdt32(0x1000)};

	set_bytes(board, "/soc/rtc@101000", "reg", reg, sizeof(reg));
	return &accepted(t)->vms[1];
}

/* A device at the address of a slot is in its place, with its source. */
static void a_device_in_a_slot(void **state)
{
	void *t = good_tree();

	(void)state;
	use_board("plic");
	delete_node(board, "/soc/virtio_mmio@10001000");
	give(t, BETA, "clock", "/soc/rtc@101000", "none");
	for (uint32_t slot = 0; slot < 8; slot++) {
		uint32_t at = 0x10001000 + slot * 0x1000;

		set_string(t, BETA, "machine", "virt");
		assert_int_equal(clock_at(t, at)->devices[0].irqs[0].guest, slot + 1);
		assert_int_equal(vm_empty_slots(clock_at(t, at)), 0xff ^ 1U << slot);
		set_string(t, BETA, "machine", "tally");
		assert_int_equal(clock_at(t, at)->devices[0].irqs[0].guest, 1);
		assert_int_equal(vm_empty_slots(clock_at(t, at)), 0);
	}
	/* Beside the slots. */
	set_string(t, BETA, "machine", "virt");
	assert_int_equal(clock_at(t, 0x10009000)->devices[0].irqs[0].guest, 12);
	assert_int_equal(vm_empty_slots(clock_at(t, 0x10009000)), 0xff);
	/* Where virt has its clock. */
	assert_int_equal(clock_at(t, 0x101000)->devices[0].irqs[0].guest, 11);
}

/* Further interrupts, and those of devices that virt has not, are behind all of virt's. */
static void other_numbers(void **state)
{
	void *t = good_tree();
	const struct vm_config *vm;

	(void)state;
	use_board("plic");
	give_serial(t);
	set_string(t, BETA, "machine", "virt");
	vm = &accepted(t)->vms[1];
	assert_int_equal(vm->devices[0].irqs[0].guest, 12);
	assert_int_equal(vm->devices[0].irqs[1].guest, 13);
	assert_int_equal(vm_free_irq(vm), 14);
	set_string(t, BETA, "machine", "tally");
	vm = &accepted(t)->vms[1];
	assert_int_equal(vm->devices[0].irqs[0].guest, 1);
	assert_int_equal(vm->devices[0].irqs[1].guest, 2);
	assert_int_equal(vm_free_irq(vm), 3);
}

/* One that keeps the host's number takes it from the device in that slot. */
static void a_number_that_is_taken(void **state)
{
	void *t = good_tree();
	const struct vm_config *vm;

	(void)state;
	use_board("plic");
	give(t, BETA, "clock", "/soc/rtc@101000", "none");
	set_string(t, give_serial(t), "interrupt-numbers", "host");
	set_string(t, BETA, "machine", "virt");
	/* The last one given is the first one in the tree. */
	assert_int_equal(clock_at(t, 0x10003000)->devices[1].irqs[0].guest, 3);
	const fdt32_t *plic = fdt_getprop(board, node(board, SERIAL), "interrupts-extended", NULL);
	const fdt32_t cells[] = {plic[0], cpu_to_fdt32(3), plic[0], cpu_to_fdt32(21)};

	set_bytes(board, SERIAL, "interrupts-extended", cells, sizeof(cells));
	vm = clock_at(t, 0x10003000);
	assert_int_equal(vm->devices[0].irqs[0].guest, 3);
	assert_int_equal(vm->devices[1].irqs[0].guest, 12);
	test_host = NULL;
}

int test_vm_machine(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(words),
	    cmocka_unit_test(not_with_an_aia),
	    cmocka_unit_test(a_device_in_a_slot),
	    cmocka_unit_test(other_numbers),
	    cmocka_unit_test(a_number_that_is_taken),
	};

	return cmocka_run_group_tests_name("vm_machine", tests, NULL, NULL);
}
