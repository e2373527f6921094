/* SPDX-License-Identifier: Apache-2.0 */
/* Devices in the VM tree: what the parser makes of a node of the host, and why it refuses one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "tests/host/board.h"
#include "core/tree/vm_groups.h"
#include "tests/host/vm_tree.h"

#define ALPHA   "/vms/alpha"
#define BETA    "/vms/beta"
#define DEVICES BETA "/devices"
#define CLOCK   DEVICES "/clock"
#define INNER   "/soc/bus@20000000/inner@10000/"

static void none_by_default(void **state)
{
	const struct vm_tree *tree = accepted(good_tree());

	(void)state;
	assert_int_equal(tree->vms[0].n_devices, 0);
	assert_int_equal(tree->vms[1].n_devices, 0);
	node(good_tree(), DEVICES);
	assert_int_equal(accepted(good_tree())->vms[1].n_devices, 0);
}

static void without_a_host(void **state)
{
	void *t = good_tree();
	const struct vm_device *d;

	(void)state;
	test_host = NULL;
	give(t, BETA, "clock", "clock", "none");
	d = &accepted(t)->vms[1].devices[0];
	assert_string_equal(d->name, "clock");
	assert_string_equal(d->host, "clock");
	assert_int_equal(d->dma, VM_DMA_NONE);
	assert_false(d->dma_unchecked);
	assert_int_equal(d->n_regions + d->n_irqs, 0);
	set_bytes(t, CLOCK, "dma-unchecked", "", 0);
	assert_true(accepted(t)->vms[1].devices[0].dma_unchecked);

	/* The same words: nothing else is known of them. */
	give(t, ALPHA, "mine", "clock", "none");
	refused(t, VM_REFUSED_DUPLICATE,
	        "/vms/beta/devices/clock: host: VM alpha has it already, as mine");
	give(t, ALPHA, "mine", "/soc/rtc@101000", "none");
	assert_int_equal(accepted(t)->vms[0].n_devices, 1);
}

static void a_clock(void **state)
{
	void *t = good_tree();
	const struct vm_device *d;

	(void)state;
	use_board("plic");
	give(t, BETA, "clock", "clock", "none");
	d = &accepted(t)->vms[1].devices[0];
	assert_int_equal(d->node, fdt_path_offset(board, "/soc/rtc@101000"));
	assert_int_equal(d->reset, VM_RESET_GOLDFISH_RTC);
	assert_int_equal(d->n_regions, 1);
	assert_int_equal(d->regions[0].base, 0x101000);
	assert_int_equal(d->regions[0].size, 0x1000);
	assert_int_equal(d->n_irqs, 1);
	assert_int_equal(d->irqs[0].source, 11);
	assert_int_equal(d->irqs[0].guest, 1);
	assert_int_equal(d->irqs[0].mode, VM_IRQ_UNKNOWN);
	assert_false(d->irqs[0].edge);
}

/* Registers that begin and end inside a page, below two buses; a controller for each interrupt. */
static void a_board_uart(void **state)
{
	void *t = good_tree();
	const struct vm_device *d;

	(void)state;
	use_board("plic");
	give(t, BETA, "clock", INNER "serial@8000", "none");
	set_u32(t, BETA, "restart-limit", 0);
	d = &accepted(t)->vms[1].devices[0];
	/* Its registers are wider than those that Tally can write. */
	assert_int_equal(d->reset, VM_RESET_UNKNOWN);
	assert_int_equal(d->registers, 0x20010100);
	assert_int_equal(d->registers_size, 0x100);
	assert_int_equal(d->reg_shift, 0);
	assert_int_equal(d->n_regions, 2);
	assert_int_equal(d->regions[0].base, 0x20010000);
	assert_int_equal(d->regions[0].size, 0x1000);
	assert_int_equal(d->regions[1].base, 0x20011000);
	assert_int_equal(d->regions[1].size, 0x2000);
	assert_int_equal(d->n_irqs, 2);
	assert_int_equal(d->irqs[0].source, 20);
	assert_int_equal(d->irqs[1].source, 21);
	assert_int_equal(d->irqs[1].guest, 2);
}

/* Where its registers are not those that a reset writes to, none is known. */
static void a_clock_of_another_size(void **state)
{
	const fdt64_t reg[] = {cpu_to_fdt64(0x101000), cpu_to_fdt64(0x1f)};
	void *t = one_device("clock");

	(void)state;
	use_board("plic");
	set_bytes(board, "/soc/rtc@101000", "reg", reg, sizeof(reg));
	assert_int_equal(accepted(t)->vms[1].devices[0].reset, VM_RESET_UNKNOWN);
	set_u32(board, "/soc/rtc@101000", "reg-shift", 3);
	assert_int_equal(accepted(t)->vms[1].devices[0].reset, VM_RESET_UNKNOWN);
}

static void types_of_an_aplic(void **state)
{
	static const enum vm_irq_mode modes[] = {VM_IRQ_RISING, VM_IRQ_FALLING, VM_IRQ_HIGH,
	                                         VM_IRQ_LOW};
	const struct vm_device *d;

	(void)state;
	use_board("aplic");
	d = &accepted(one_device("/soc/types@21000000"))->vms[1].devices[0];
	assert_int_equal(d->n_irqs, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(d->irqs[i].source, i + 1);
		assert_int_equal(d->irqs[i].mode, modes[i]);
		assert_true(d->irqs[i].edge == (i < 2));
	}
}

static void syntax(void **state)
{
	void *t = good_tree();

	(void)state;
	test_host = NULL;
	give(t, BETA, "clock", "clock", "none");
	delete_prop(t, CLOCK, "host");
	refused(t, VM_REFUSED_MISSING_PROPERTY, "/vms/beta/devices/clock: host: is missing");
	set_bytes(t, CLOCK, "host", "x", 1);
	refused(t, VM_REFUSED_STRING, "/vms/beta/devices/clock: host: is not one string");
	set_string(t, CLOCK, "host", "x");
	delete_prop(t, CLOCK, "dma");
	refused(t, VM_REFUSED_MISSING_PROPERTY, "/vms/beta/devices/clock: dma: is missing");
	set_string(t, CLOCK, "dma", "some");
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta/devices/clock: dma: is not \"none\", \"isolated\" or \"trusted\"");
	set_string(t, CLOCK, "dma", "none");
	set_string(t, CLOCK, "dma-unchecked", "yes");
	refused(t, VM_REFUSED_VALUE,
	        "/vms/beta/devices/clock: dma-unchecked: is a flag, without a value");
	delete_prop(t, CLOCK, "dma-unchecked");
	set_u32(t, CLOCK, "irq", 1);
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY,
	        "/vms/beta/devices/clock: irq: is not a property of this node");
	delete_prop(t, CLOCK, "irq");
	node(t, CLOCK "/x");
	refused(t, VM_REFUSED_UNKNOWN_NODE, "/vms/beta/devices/clock/x: no node belongs here");
	delete_node(t, CLOCK "/x");
	set_u32(t, DEVICES, "host", 1);
	refused(t, VM_REFUSED_UNKNOWN_PROPERTY,
	        "/vms/beta/devices: host: is not a property of this node");
	delete_prop(t, DEVICES, "host");
	give(t, BETA, "Clock", "x", "none");
	refused(t, VM_REFUSED_NAME,
	        "/vms/beta/devices/Clock: the name of a device is 1 to 31 characters of a-z, 0-9 "
	        "and -");
}

static void too_many_devices(void **state)
{
	void *t = good_tree();
	char name[16], path[32];

	(void)state;
	test_host = NULL;
	for (int i = 0; i < 17; i++) {
		snprintf(name, sizeof(name), "d%d", i);
		snprintf(path, sizeof(path), "/soc/d%d", i);
		give(t, BETA, name, path, "none");
		if (i < 16)
			assert_int_equal(accepted(t)->vms[1].n_devices, i + 1);
	}
	refused(t, VM_REFUSED_TOO_MANY, "/vms/beta/devices/d0: is one device more than 16");
}

static void dma(void **state)
{
	void *t = good_tree();

	(void)state;
	use_board("plic");
	give(t, BETA, "clock", "clock", "isolated");
	refused(t, VM_REFUSED_DMA,
	        "/vms/beta/devices/clock: dma: nothing translates this device's DMA: only PCI "
	        "functions behind an IOMMU can be isolated");
	give(t, BETA, "clock", "/soc/virtio_mmio@10001000", "trusted");
	refused(t, VM_REFUSED_DMA,
	        "/vms/beta/devices/clock: dma: \"trusted\" needs memory-at: the device takes the "
	        "VM's addresses for the machine's");
	set_bytes(t, CLOCK, "dma-unchecked", "", 0);
	refused(t, VM_REFUSED_DMA,
	        "/vms/beta/devices/clock: dma-unchecked: has no meaning but with dma = \"none\"");
	set_string(t, CLOCK, "dma", "none");
	refused(t, VM_REFUSED_DMA,
	        "/vms/beta/devices/clock: dma: virtio,mmio has DMA: only \"trusted\" is true of "
	        "it");
	t = good_tree();
	give(t, BETA, "clock", "/flash@24000000", "none");
	refused(t, VM_REFUSED_DMA,
	        "/vms/beta/devices/clock: dma: that cfi-flash has none is not known; dma-unchecked "
	        "says that you know it");
	accepted(one_device("/flash@24000000"));
}

/* A VM that has devices without a known reset has one life. */
static void lives(void **state)
{
	const char *words =
	    "/vms/beta/devices/clock: host: Tally knows no reset of it: the VM has to have one "
	    "life, by restart = \"never\" and restart-limit = <0>";
	void *t = one_device("/flash@24000000");

	(void)state;
	use_board("plic");
	accepted(t);
	set_u32(t, BETA, "restart-limit", 1);
	refused(t, VM_REFUSED_DEVICE, words);
	set_u32(t, BETA, "restart-limit", 0);
	set_string(t, BETA, "restart", "always");
	refused(t, VM_REFUSED_DEVICE, words);
	set_string(t, BETA, "restart", "on-failure");
	refused(t, VM_REFUSED_DEVICE, words);
}

static void doubles(void **state)
{
	void *t = good_tree();

	(void)state;
	use_board("plic");
	give(t, BETA, "clock", "clock", "none");
	give(t, ALPHA, "mine", "/soc/rtc@101000", "none");
	refused(t, VM_REFUSED_DUPLICATE,
	        "/vms/beta/devices/clock: host: VM alpha has it already, as mine");
	delete_node(t, ALPHA "/devices");
	give(t, BETA, "again", "/soc/rtc@101000", "none");
	refused(t, VM_REFUSED_DUPLICATE,
	        "/vms/beta/devices/clock: host: VM beta has it already, as again");
}

/* Nine devices with four interrupts each, of which the VM's own controller has room for 30. */
static void too_many_interrupts(void **state)
{
	void *t = good_tree();

	(void)state;
	use_board("aplic");
	set_u32(t, BETA, "restart-limit", 0);
	for (uint32_t i = 0; i < 8; i++) {
		char name[] = "a", path[32];
		fdt32_t cells[8];

		name[0] = (char)('a' + i);
		snprintf(path, sizeof(path), "/soc/more@3000%u000", i);
		for (uint32_t k = 0; k < 8; k++)
			cells[k] = cpu_to_fdt32(k % 2 ? 4 : 20 + 4 * i + k / 2);
		set_bytes(board, path, "interrupts", cells, sizeof(cells));
		for (uint32_t k = 0; k < 4; k++)
			cells[k] = cpu_to_fdt32(k == 1 ? 0x30000000 + 0x1000 * i : k / 3 << 12);
		set_bytes(board, path, "reg", cells, 16);
		set_bytes(t, give(t, BETA, name, path, "none"), "dma-unchecked", "", 0);
		if (i < 7)
			assert_int_equal(accepted(t)->vms[1].n_devices, i + 1);
	}
	/* The last in the order of the tree. */
	refused(t, VM_REFUSED_TOO_MANY,
	        "/vms/beta/devices/a: host: the VM's devices have more than 30 interrupts "
	        "together");
}

/* Of all VMs together, each of which would have room for its own. */
static void too_many_interrupts_of_all(void **state)
{
	static const char *const vms[] = {"/vms/alpha", "/vms/beta", "/vms/gamma"};
	void *t = good_tree();

	(void)state;
	use_board("aplic");
	set_u32(t, "/vms/gamma", "kernel", RAW_PHANDLE);
	set_u32(t, "/vms/gamma/vcpu0", "harts", 63);
	set_u64(t, "/vms/gamma", "memory", 2 << 20);
	for (uint32_t i = 0; i < 16; i++) {
		const char *vm = vms[i / 7];
		char name[] = "a", path[32];
		fdt32_t cells[8];

		set_u32(t, vm, "restart-limit", 0);
		name[0] = (char)('a' + i);
		snprintf(path, sizeof(path), "/soc/many@400%02x000", i);
		set_string(board, path, "compatible", "test,many");
		for (uint32_t k = 0; k < 8; k++)
			cells[k] = cpu_to_fdt32(k % 2 ? 4 : 20 + 4 * i + k / 2);
		set_bytes(board, path, "interrupts", cells, sizeof(cells));
		for (uint32_t k = 0; k < 4; k++)
			cells[k] = cpu_to_fdt32(k == 1 ? 0x40000000 + 0x1000 * i : k / 3 << 12);
		set_bytes(board, path, "reg", cells, 16);
		set_bytes(t, give(t, vm, name, path, "none"), "dma-unchecked", "", 0);
		if (i == 14)
			assert_int_equal(accepted(t)->n_irqs, 60);
	}
	refused(t, VM_REFUSED_TOO_MANY,
	        "/vms/beta/devices/h: host: the devices of all VMs have more than 62 interrupts "
	        "together");
}

/* Types where QEMU should have written sources alone: 4 is virtio's, and 38 is the IOMMU's. */
static void types_below_a_plic(void **state)
{
	fdt32_t cells[8];
	void *t = one_device("clock");

	(void)state;
	use_board("plic");
	for (uint32_t i = 0; i < 4; i++) {
		cells[2 * i] = cpu_to_fdt32(36 + i);
		cells[2 * i + 1] = cpu_to_fdt32(4);
	}
	set_bytes(board, "/soc/iommu@3010000", "interrupts", cells, sizeof(cells));
	set_u32(board, "/soc/rtc@101000", "interrupts", 4);
	assert_int_equal(accepted(t)->vms[1].devices[0].irqs[0].source, 4);
	set_u32(board, "/soc/rtc@101000", "interrupts", 38);
	refused(t, VM_REFUSED_INTERRUPT,
	        "/vms/beta/devices/clock: host: shares interrupt 38 with /soc/iommu@3010000, which "
	        "is not this VM's");
	/* Not so anywhere else. */
	set_string(board, "/soc/iommu@3010000", "compatible", "test,iommu");
	set_u32(board, "/soc/rtc@101000", "interrupts", 4);
	refused(t, VM_REFUSED_INTERRUPT,
	        "/vms/beta/devices/clock: host: shares interrupt 4 with /soc/iommu@3010000, which "
	        "is not this VM's");
}

/* Both, or all three, to one VM: accepted, and the shared interrupt has one source. */
/* The host's numbers go to those that ask for them; others take what is left. */
/* A VM has a clock of its own, unless it has one of the machine's, or its page is another's. */
static void own_clock(void **state)
{
	void *t = good_tree();
	const struct vm_tree *tree;

	(void)state;
	use_board("plic");
	give(t, BETA, "mine", "clock", "none");
	tree = accepted(t);
	assert_true(tree->vms[0].rtc && tree->vms[0].rtc_source == 11);
	assert_false(tree->vms[1].rtc || tree->vms[1].rtc_source);
	/* The same clock elsewhere. */
	set_bytes(board, "/soc/rtc@101000", "reg", "\0\0\0\0\x20\0\0\0\0\0\0\0\0\0\x10\0", 16);
	assert_false(accepted(t)->vms[1].rtc);
	/* Something else in its place. */
	set_string(board, "/soc/rtc@101000", "compatible", "acme,lamp");
	set_bytes(t, "/vms/beta/devices/mine", "dma-unchecked", "", 0);
	set_string(t, BETA, "restart", "never");
	set_u32(t, BETA, "restart-limit", 0);
	assert_true(accepted(t)->vms[1].rtc);
	assert_int_equal(accepted(t)->vms[1].rtc_source, 11);
	set_bytes(board, "/soc/rtc@101000", "reg", "\0\0\0\0\0\x10\x10\0\0\0\0\0\0\0\x10\0", 16);
	assert_false(accepted(t)->vms[1].rtc);
}

/* Its source is the highest that is free if a device has 11, and there is none if all are taken. A
 * power key comes after it, and must have one. */
static void own_clocks_source(void **state)
{
	static struct vm_tree tree;
	struct vm_config *vm = &tree.vms[0];
	struct vm_refusal why = {0};
	struct vm_node n = {.why = &why, .limits = &test_limits, .tree = &tree, .vm = vm};

	(void)state;
	n.blob = good_tree();
	n.at = fdt_path_offset(n.blob, BETA);
	tree.n_vms = 1;
	*vm = (struct vm_config){.n_shared = 1, .shared = {{.bell = 11, .at = 1 << 30}}};
	assert_true(vm_choose_rtc(&n));
	assert_true(vm->rtc && vm->rtc_source == 31);
	assert_true(vm_check_key(&n) && !vm->key_source);
	vm->shutdown = VM_SHUTDOWN_KEY;
	assert_true(vm_check_key(&n) && vm->key_source == 30);
	vm->key_source = 0;
	vm->n_devices = 8;
	for (uint32_t i = 0; i < 31; i++) {
		vm->devices[i / 4].n_irqs = i % 4 + 1;
		vm->devices[i / 4].irqs[i % 4].guest = i + 1;
	}
	vm->rtc_source = 0;
	assert_true(vm_choose_rtc(&n));
	assert_true(vm->rtc && vm->rtc_source == 0);
	assert_false(vm_check_key(&n));
	assert_int_equal(why.code, VM_REFUSED_INTERRUPT);
	assert_string_equal(why.reason,
	                    "no source of the VM's interrupt controller is left for the "
	                    "power key");
	vm->devices[7].n_irqs = 2; /* 29 and 30 */
	assert_true(vm_choose_rtc(&n));
	assert_true(vm->rtc && vm->rtc_source == 31);
	assert_false(vm_check_key(&n));
	vm->devices[7].n_irqs = 1;
	assert_true(vm_check_key(&n) && vm->key_source == 30);
	vm->key_source = 0;
	vm->devices[7].n_irqs = 2;
	vm->shared[0].at = 0;
	tree.shared[0].size = 0x200000;
	assert_true(vm_choose_rtc(&n));
	assert_false(vm->rtc || vm->rtc_source);
	assert_true(vm_check_key(&n) && vm->key_source == 31);
}

static void numbers_of_the_host(void **state)
{
	void *t = good_tree();
	const struct vm_config *vm;
	const char *clock = BETA "/devices/clock";

	(void)state;
	use_board("plic");
	give(t, BETA, "clock", "clock", "none");
	set_string(t, clock, "interrupt-numbers", "own");
	assert_int_equal(accepted(t)->vms[1].devices[0].irqs[0].guest, 1);
	set_string(t, clock, "interrupt-numbers", "host");
	vm = &accepted(t)->vms[1];
	assert_int_equal(vm->devices[0].irqs[0].guest, 11);
	assert_int_equal(accepted(t)->n_irqs, 1);
	assert_true(vm_has_irq(vm, 11) && vm_has_irq(vm, 10) && !vm_has_irq(vm, 1));
	set_u32(board, "/soc/rtc@101000", "interrupts", 31);
	assert_int_equal(accepted(t)->vms[1].devices[0].irqs[0].guest, 31);
	set_u32(board, "/soc/rtc@101000", "interrupts", 32);
	refused(t, VM_REFUSED_INTERRUPT,
	        "/vms/beta/devices/clock: interrupt-numbers: interrupt 32 of the host is above 31, "
	        "the last of a VM");
	/* Ten is the UART's, of this machine and of a VM. */
	set_u32(board, "/soc/serial@10000000", "interrupts", 14);
	set_u32(board, "/soc/rtc@101000", "interrupts", 10);
	refused(t, VM_REFUSED_INTERRUPT,
	        "/vms/beta/devices/clock: interrupt-numbers: interrupt 10 of the host has the "
	        "number of the VM's UART");
}

static void neighbours_together(void **state)
{
	void *t = one_device("/soc/left@21000000");
	const struct vm_config *vm;
	struct vm_range pages[VM_MAX_DEVICE_PAGES];

	(void)state;
	use_board("plic");
	set_bytes(t, give(t, BETA, "right", "/soc/right@21000800", "none"), "dma-unchecked", "", 0);
	refused(t, VM_REFUSED_INTERRUPT,
	        "/vms/beta/devices/right: host: shares interrupt 40 with /soc/third@21002000, "
	        "which is not this VM's");
	set_bytes(t, give(t, BETA, "third", "/soc/third@21002000", "none"), "dma-unchecked", "", 0);
	vm = &accepted(t)->vms[1];
	assert_int_equal(vm->n_devices, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(vm->devices[i].irqs[0].guest, 1);
	assert_int_equal(vm_device_pages(vm, pages), 2);
	assert_true(pages[0].from == 0x21002000 && pages[0].to == 0x21003000);
	assert_true(pages[1].from == 0x21000000 && pages[1].to == 0x21001000);
	/* The third is another VM's: registers of its own, the same interrupt. */
	delete_node(t, DEVICES "/third");
	set_u32(t, ALPHA, "restart-limit", 0);
	set_bytes(t, give(t, ALPHA, "third", "/soc/third@21002000", "none"), "dma-unchecked", "",
	          0);
	refused(t, VM_REFUSED_INTERRUPT,
	        "/vms/alpha/devices/third: host: shares interrupt 40 with /soc/left@21000000, "
	        "which is not this VM's");
}

/* Given alone, with dma-unchecked, to a VM with one life. */
static void alone(void **state)
{
	static const struct {
		const char *host, *words;
		enum vm_refusal_code code;
	} cases[] = {
#define CASE(code, host, words) {host, words, VM_REFUSED_##code}
	    CASE(DEVICE, "/soc/gone@1", "the host's tree has no such node"),
	    CASE(DEVICE, "gone", "the host's tree has no such alias"),
	    CASE(DEVICE, "nobody", "the host's tree has no such alias"),
	    CASE(DEVICE, "/", "is the whole machine"),
	    CASE(DEVICE, "serial0", "is Tally's console"),
	    CASE(DEVICE, "/soc/serial@10000000", "is Tally's console"),
	    CASE(DEVICE, "/soc/plic@c000000", "is an interrupt controller, which Tally drives"),
	    CASE(DEVICE, "/soc/clint@2000000",
	         "is the firmware's: it has the timers and IPIs of all harts"),
	    CASE(DEVICE, "/soc/iommu@3010000", "is an IOMMU"),
	    CASE(DEVICE, "/soc/test@100000", "switches the machine off"),
	    CASE(DEVICE, "/poweroff", "switches the machine off"),
	    CASE(DEVICE, "/fw-cfg@10100000", "can write all memory, by a register of its own"),
	    CASE(DEVICE, "/soc/pci@30000000",
	         "is a PCI host bridge, with the functions of all VMs"),
	    CASE(DEVICE, "/memory@80000000", "is memory: a VM has memory by its own properties"),
	    CASE(DEVICE, "/cpus/cpu@0", "is a hart: a VM has harts by its vcpus"),
	    CASE(DEVICE, "/soc/gpio@21024000", "is an interrupt controller"),
	    CASE(DEVICE, "/soc/off@21005000", "is disabled in the host's tree"),
	    CASE(DEVICE, "/soc/naked", "has no registers"),
	    CASE(DEVICE, "/soc", "has no registers"),
	    CASE(DEVICE, "/soc/around@0", "its registers contradict the buses above it"),
	    CASE(DEVICE, INNER "beyond@b000", "its registers contradict the buses above it"),
	    CASE(DEVICE, INNER "crooked@8000", "its registers contradict the buses above it"),
	    CASE(DEVICE, "/soc/bus@20000000/bent/straw@0",
	         "its registers contradict the buses above it"),
	    CASE(DEVICE, INNER "outside@c000", "no hart can see its registers"),
	    CASE(DEVICE, "/soc/bus@20000000/closed/codec@30", "no hart can see its registers"),
	    CASE(DEVICE, "/soc/bus@20000000/wall/brick@0", "no hart can see its registers"),
	    CASE(DEVICE, "/soc/pci@30000000/function@0",
	         "is on a PCI bus: a VM has functions by pci"),
	    CASE(REGISTERS, "/soc/left@21000000",
	         "shares the page 0x21000000 with /soc/right@21000800, which is not this VM's"),
	    CASE(REGISTERS, "/soc/beside-iommu@3010800",
	         "shares the page 0x3010000 with /soc/iommu@3010000, which is not this VM's"),
	    CASE(REGISTERS, "/soc/in-window@40000000",
	         "shares the page 0x40000000 with /soc/pci@30000000, which is not this VM's"),
	    CASE(REGISTERS, "/soc/in-memory@81000000",
	         "its registers at 0x81000000 lie in the machine's memory"),
	    CASE(REGISTERS, "/soc/low-memory@80001000",
	         "its registers at 0x80001000 lie where the VM has its memory"),
	    CASE(REGISTERS, "/soc/at-plic@c001000",
	         "its registers at 0xc001000 lie where the VM has its interrupt controller"),
	    CASE(REGISTERS, "/soc/at-uart@10000800",
	         "its registers at 0x10000000 lie where the VM has its UART"),
	    CASE(REGISTERS, "/soc/far@20000000000",
	         "its registers at 0x20000000000 lie above all that a VM can address"),
	    CASE(REGISTERS, "/soc/wide@10000000000",
	         "its registers at 0x10000000000 are more than 1 GiB"),
	    CASE(REGISTERS, "/soc/empty@21006000", "its registers at 0x21006000 have no size"),
	    CASE(TOO_MANY, "/soc/pieces@21010000", "has more than 4 pieces of registers"),
	    CASE(TOO_MANY, "/soc/crumbs@21020000", "has more than 8 ranges of registers"),
	    CASE(TOO_MANY, "/soc/loud@21021000", "has more than 4 interrupts"),
	    CASE(INTERRUPT, "/soc/stutter@21022000", "has interrupt 50 twice"),
	    CASE(INTERRUPT, "/soc/nothing@21023000", "interrupt 0 is none"),
	    CASE(INTERRUPT, "/soc/by-gpio@21025000",
	         "has an interrupt that does not go to the harts' PLIC or APLIC"),
	    CASE(INTERRUPT, "/soc/by-nobody@21026000",
	         "has an interrupt that does not go to the harts' PLIC or APLIC"),
	    CASE(INTERRUPT, "/soc/third@21002000",
	         "shares interrupt 40 with /soc/left@21000000, which is not this VM's"),
	    CASE(INTERRUPT, "/soc/of-pci@21004000",
	         "shares interrupt 33 with /soc/pci@30000000, which is not this VM's"),
	    CASE(REFERENCE, "/soc/gated@21028000",
	         "clocks refers to /soc/clocks@21027000, which the VM does not have"),
	    CASE(REFERENCE, "/soc/reset@21029000",
	         "resets refers to /soc/clocks@21027000, which the VM does not have"),
	    CASE(REFERENCE, "/soc/pins@2102a000",
	         "cd-gpios refers to /soc/gpio@21024000, which the VM does not have"),
	    CASE(REFERENCE, "/soc/power@2102b000",
	         "vcc-supply refers to /soc/clocks@21027000, which the VM does not have"),
	    CASE(REFERENCE, "/soc/mux@2102c000",
	         "pinctrl-0 refers to /soc/gpio@21024000, which the VM does not have"),
	    CASE(REFERENCE, "/soc/lost@21030000",
	         "dmas refers to a node that is not there, which the VM does not have"),
	    CASE(REFERENCE, "/soc/vendor@2102d000",
	         "test,syscon may refer to /soc/test@100000, which the VM does not have: it has a "
	         "2"),
	    CASE(REFERENCE, "/soc/parent@2102f000",
	         "has a node of its own, port: only devices without are given"),
	};

	(void)state;
	use_board("plic");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[VM_REFUSAL_TEXT];

		snprintf(text, sizeof(text), "/vms/beta/devices/clock: host: %s", cases[i].words);
		refused(one_device(cases[i].host), cases[i].code, text);
	}
}

static void refused_with(enum vm_refusal_code code, const char *host, const char *words)
{
	char text[VM_REFUSAL_TEXT];

	snprintf(text, sizeof(text), "/vms/beta/devices/clock: host: %s", words);
	refused(one_device(host), code, text);
	use_board("plic");
}

/* What is wrong above the device, or with how the tree names it. */
static void nodes_above(void **state)
{
	const fdt64_t reg[] = {cpu_to_fdt64(0xc0000000), cpu_to_fdt64(0x1000)};

	(void)state;
	use_board("plic");
	set_string(board, "/soc/bus@20000000", "status", "disabled");
	refused_with(VM_REFUSED_DEVICE, INNER "serial@8000",
	             "is below bus@20000000, which is disabled in the host's tree");
	set_string(board, "/soc/bus@20000000/inner@10000", "status", "reserved");
	refused_with(VM_REFUSED_DEVICE, INNER "serial@8000",
	             "is below inner@10000, which is disabled in the host's tree");
	set_string(board, "/soc/bus@20000000", "device_type", "pci");
	refused_with(VM_REFUSED_DEVICE, INNER "serial@8000",
	             "is on a PCI bus: a VM has functions by pci");
	/* Behind the end of RAM, so that no node of memory has it. */
	node(board, "/reserved-memory");
	set_u32(board, "/reserved-memory", "#address-cells", 2);
	set_u32(board, "/reserved-memory", "#size-cells", 2);
	set_bytes(board, "/reserved-memory", "ranges", "", 0);
	set_bytes(board, "/reserved-memory/keep@c0000000", "reg", reg, sizeof(reg));
	refused_with(VM_REFUSED_DEVICE, "/reserved-memory/keep@c0000000",
	             "is memory that the host's tree keeps");
	/* One clock may be named without its address, one of two may not. */
	assert_int_equal(accepted(one_device("/soc/rtc"))->vms[1].n_devices, 1);
	node(board, "/soc/rtc@102000");
	assert_int_equal(accepted(one_device("/soc/rtc@101000"))->vms[1].n_devices, 1);
	assert_int_equal(accepted(one_device("clock"))->vms[1].n_devices, 1);
	refused(one_device("/soc/rtc"), VM_REFUSED_DEVICE,
	        "/vms/beta/devices/clock: host: is rtc@102000 and rtc@101000: it has to be named "
	        "with its address");
}

#define RTC "/soc/rtc@101000"

static void interrupts_that_are_none(void **state)
{
	const fdt64_t all[] = {0, cpu_to_fdt64(UINT64_MAX)};
	const fdt64_t most[] = {0, cpu_to_fdt64(UINT64_MAX - 4094)};

	(void)state;
	use_board("plic");
	set_bytes(board, RTC, "interrupts", "123", 3);
	refused_with(VM_REFUSED_INTERRUPT, RTC,
	             "has interrupts of 3 bytes, which are no interrupts");
	set_bytes(board, RTC, "interrupts-extended", "12345", 5);
	refused_with(VM_REFUSED_INTERRUPT, RTC,
	             "has interrupts-extended of 5 bytes, which are no interrupts");
	set_bytes(board, RTC, "interrupts", "", 0);
	refused_with(VM_REFUSED_INTERRUPT, RTC,
	             "has interrupts of 0 bytes, which are no interrupts");
	delete_prop(board, "/", "interrupt-parent");
	refused_with(VM_REFUSED_INTERRUPT, RTC,
	             "has interrupts, and no interrupt-parent says where they go");
	set_u32(board, RTC, "interrupts", 95);
	assert_int_equal(accepted(one_device(RTC))->vms[1].devices[0].irqs[0].source, 95);
	set_u32(board, RTC, "interrupts", 96);
	refused_with(VM_REFUSED_INTERRUPT, RTC,
	             "interrupt 96 is none: the harts' controller has 95");
	/* Registers whose pages are more than there are numbers. */
	set_bytes(board, RTC, "reg", all, sizeof(all));
	refused_with(VM_REFUSED_REGISTERS, RTC, "its registers at 0x0 are more than 1 GiB");
	set_bytes(board, RTC, "reg", most, sizeof(most));
	refused_with(VM_REFUSED_REGISTERS, RTC, "its registers at 0x0 are more than 1 GiB");
}

int test_vm_devices(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(none_by_default),
	    cmocka_unit_test(without_a_host),
	    cmocka_unit_test(a_clock),
	    cmocka_unit_test(a_board_uart),
	    cmocka_unit_test(a_clock_of_another_size),
	    cmocka_unit_test(types_of_an_aplic),
	    cmocka_unit_test(syntax),
	    cmocka_unit_test(too_many_devices),
	    cmocka_unit_test(dma),
	    cmocka_unit_test(lives),
	    cmocka_unit_test(doubles),
	    cmocka_unit_test(types_below_a_plic),
	    cmocka_unit_test(too_many_interrupts),
	    cmocka_unit_test(too_many_interrupts_of_all),
	    cmocka_unit_test(neighbours_together),
	    cmocka_unit_test(own_clock),
	    cmocka_unit_test(own_clocks_source),
	    cmocka_unit_test(numbers_of_the_host),
	    cmocka_unit_test(alone),
	    cmocka_unit_test(nodes_above),
	    cmocka_unit_test(interrupts_that_are_none),
	};
	int failed = cmocka_run_group_tests_name("vm tree: devices", tests, NULL, NULL);

	test_host = NULL;
	return failed;
}
