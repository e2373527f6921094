/* SPDX-License-Identifier: Apache-2.0 */
/* The node of a device in the guest's tree, as dtc reads it back. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/life/guest_dt.h"
#include "core/tree/device_node.h"
#include "tests/host/board.h"
#include "tests/host/vm_tree.h"

#define BETA  "/vms/beta"
#define CLOCK BETA "/devices/clock"
#define UART  "/soc/bus@20000000/inner@10000/serial@8000"

static _Alignas(8) uint8_t dt[65536];

static void build(const struct vm_config *vm, size_t size)
{
	static const char *const extensions[] = {"i"};
	const struct guest_machine machine = {
	    .timebase_frequency = 10000000,
	    .isa = "rv64i",
	    .isa_extensions = extensions,
	    .n_ext = 1,
	    .mmu_type = "riscv,sv39",
	    .host_tree = test_host,
	};

	assert_int_equal(guest_dt_build(dt, size, vm, &machine), 0);
	assert_int_equal(fdt_check_full(dt, sizeof(dt)), 0);
}

/* The lines of dtc from that of the node's name to the one that closes it, without tabs. Since 1.7
 * it writes a list of strings as "a", "b", before that as "a\0b", which it is here. */
static const char *node_text(const char *name)
{
	static char text[2048];
	char path[] = "/tmp/device-node-XXXXXX", command[128], line[512];
	int file = mkstemp(path);
	bool inside = false;
	FILE *dtc;

	assert_true(file >= 0);
	assert_int_equal(write(file, dt, fdt_totalsize(dt)), fdt_totalsize(dt));
	close(file);
	snprintf(command, sizeof(command), "dtc -q -I dtb -O dts %s | sed 's/\", \"/\\\\0/g'",
	         path);
	dtc = popen(command, "r");
	assert_non_null(dtc);
	text[0] = '\0';
	while (fgets(line, sizeof(line), dtc)) {
		const char *words = line + strspn(line, "\t");

		inside |= strncmp(words, name, strlen(name)) == 0 && words[strlen(name)] == ' ';
		if (inside)
			strncat(text, words, sizeof(text) - strlen(text) - 1);
		inside &= strcmp(words, "};\n") != 0;
	}
	assert_int_equal(pclose(dtc), 0);
	unlink(path);
	return text;
}

static const struct vm_config *beta(void *tree)
{
	return &accepted(tree)->vms[1];
}

static void a_clock(void **state)
{
	(void)state;
	use_board("plic");
	build(beta(one_device("clock")), sizeof(dt));
	assert_string_equal(node_text("rtc@101000"), "rtc@101000 {\n"
	                                             "compatible = \"google,goldfish-rtc\";\n"
	                                             "reg = <0x00 0x101000 0x00 0x1000>;\n"
	                                             "interrupt-parent = <0x01>;\n"
	                                             "interrupts = <0x01>;\n"
	                                             "};\n");
	assert_int_equal(fdt_get_phandle(dt, fdt_path_offset(dt, "/soc/plic@c000000")), 1);
}

/* Addresses as the harts see them, the clocks' nodes beside it, and words of the vendor's. */
static void a_board_uart(void **state)
{
	(void)state;
	use_board("plic");
	build(beta(one_device(UART)), sizeof(dt));
	assert_string_equal(node_text("serial@20010100"),
	                    "serial@20010100 {\n"
	                    "compatible = \"test,uart\\0snps,dw-apb-uart\\0ns16550\";\n"
	                    "reg-names = \"registers\\0fifo\";\n"
	                    "interrupt-names = \"all\\0wake\";\n"
	                    "clocks = <0x100 0x101>;\n"
	                    "clock-names = \"baudclk\\0apb_pclk\";\n"
	                    "reg-shift = <0x02>;\n"
	                    "reg-io-width = <0x04>;\n"
	                    "test,words = \"one\\0two\";\n"
	                    "test,number = <0x12345678>;\n"
	                    "test,flag;\n"
	                    "status = \"okay\";\n"
	                    "reg = <0x00 0x20010100 0x00 0x100 0x00 0x20011ff0 0x00 0x20>;\n"
	                    "interrupt-parent = <0x01>;\n"
	                    "interrupts = <0x01 0x02>;\n"
	                    "};\n");
	assert_string_equal(node_text("clock-100"), "clock-100 {\n"
	                                            "compatible = \"fixed-clock\";\n"
	                                            "#clock-cells = <0x00>;\n"
	                                            "clock-frequency = <0x16e3600>;\n"
	                                            "clock-output-names = \"osc24M\";\n"
	                                            "phandle = <0x100>;\n"
	                                            "};\n");
	assert_true(strlen(node_text("clock-101")) > 0);
	assert_string_equal(node_text("clock-102"), "");
}

/* The second device's clocks have phandles of their own. */
static void two_devices(void **state)
{
	void *t = one_device(UART);

	(void)state;
	use_board("plic");
	give(t, BETA, "other", "/soc/rtc@101000", "none");
	set_u32(board, "/soc/rtc@101000", "clocks",
	        fdt_get_phandle(board, fdt_path_offset(board, "/oscillator")));
	build(beta(t), sizeof(dt));
	/* libfdt has put the other before the first. */
	assert_non_null(strstr(node_text("rtc@101000"), "clocks = <0x100>;\n"));
	assert_non_null(strstr(node_text("rtc@101000"), "interrupts = <0x01>;\n"));
	assert_non_null(strstr(node_text("serial@20010100"), "clocks = <0x104 0x105>;\n"));
	assert_non_null(strstr(node_text("serial@20010100"), "interrupts = <0x02 0x03>;\n"));
	assert_true(strlen(node_text("clock-105")) > 0);
}

/* The source of the VM's own UART is left out. */
static void without_source_10(void **state)
{
	static const char *const names[] = {"a", "b", "c"};
	void *t = one_device("/soc/types@21000000");
	const struct vm_config *vm;

	(void)state;
	use_board("aplic");
	for (uint32_t i = 0; i < 3; i++) {
		char path[64], host[64];
		fdt32_t cells[8];

		snprintf(host, sizeof(host), "/soc/more@3000%u000", i);
		for (uint32_t k = 0; k < 4; k++) {
			cells[2 * k] = cpu_to_fdt32(30 + 4 * i + k);
			cells[2 * k + 1] = cpu_to_fdt32(4);
		}
		set_bytes(board, host, "interrupts", cells, sizeof(cells));
		cells[0] = cells[2] = 0;
		cells[1] = cpu_to_fdt32(0x30000000 + 0x1000 * i);
		cells[3] = cpu_to_fdt32(0x1000);
		set_bytes(board, host, "reg", cells, 16);
		snprintf(path, sizeof(path), "%s", give(t, BETA, names[i], host, "none"));
		set_bytes(t, path, "dma-unchecked", "", 0);
	}
	vm = beta(t);
	assert_int_equal(vm->n_devices, 4);
	for (uint32_t i = 0, next = 1; i < 16; i++, next++) {
		next += next == 10;
		/* libfdt puts a new node before the others. */
		assert_int_equal(vm->devices[i / 4].irqs[i % 4].guest, next);
	}
}

/* The parser's sum is not less than what a node takes. */
static uint32_t sum_of(const char *host)
{
	void *t = one_device(host);
	struct vm_refusal why;
	const struct vm_limits limits = {.host_tree = test_host};
	const struct vm_node n = {.blob = t, .at = node(t, CLOCK), .why = &why, .limits = &limits};
	uint32_t bytes = 0, before, after;
	struct vm_config vm = *beta(t);

	assert_true(device_node_check(&n, &vm.devices[0], &bytes));
	build(&vm, sizeof(dt));
	after = fdt_totalsize(dt);
	vm.n_devices = 0;
	build(&vm, sizeof(dt));
	before = fdt_totalsize(dt);
	assert_true(after - before <= bytes);
	return bytes;
}

static void room(void **state)
{
	static char words[DEVICE_NODES_BYTES];

	(void)state;
	use_board("plic");
	sum_of("clock");
	sum_of(UART);
	memset(words, 'x', sizeof(words) - 1);
	set_bytes(board, "/soc/rtc@101000", "label", words, 15000);
	words[14999] = '\0';
	set_bytes(board, "/soc/rtc@101000", "label", words, 15000);
	assert_in_range(sum_of("clock"), 15000, DEVICE_NODES_BYTES);
	words[14999] = 'x';
	set_bytes(board, "/soc/rtc@101000", "label", words, sizeof(words));
	refused(one_device("clock"), VM_REFUSED_TOO_MANY,
	        "/vms/beta/devices/clock: host: the nodes of the devices up to this one take more "
	        "than 16384 bytes of the VM's device tree");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_clock),     cmocka_unit_test(a_board_uart),
	    cmocka_unit_test(two_devices), cmocka_unit_test(without_source_10),
	    cmocka_unit_test(room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
