/* SPDX-License-Identifier: Apache-2.0 */
/* PCI functions in the VM tree: what can be told of them before boot; and the bus of the host. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <libfdt.h>

#include "core/host/host_bridge.h"
#include "core/host/host_iommu.h"
#include "tests/host/board.h"
#include "tests/host/vm_tree.h"

#define ALPHA  "/vms/alpha"
#define BETA   "/vms/beta"
#define DISK   BETA "/devices/disk"
#define BRIDGE "/soc/pci@30000000"
#define IOMMU  "/soc/iommu@3010000"

static void *give_function(void *t, const char *vm, const char *name, const char *pci)
{
	char at[128];

	snprintf(at, sizeof(at), "%s/devices", vm);
	node(t, at);
	snprintf(at, sizeof(at), "%s/devices/%s", vm, name);
	set_string(t, at, "pci", pci);
	set_string(t, at, "dma", "isolated");
	return t;
}

static void *one_function(const char *pci)
{
	return give_function(good_tree(), BETA, "disk", pci);
}

static const struct vm_device *given(const char *pci)
{
	return &accepted(one_function(pci))->vms[1].devices[0];
}

static void names(void **state)
{
	static const char *const wrong[] = {
	    "",        "0:01.0",   "00:1.0",       "00:01",    "00:01.",     "00:01.8",
	    "00:20.0", "00:01.00", "g0:01.0",      "1af4:104", "1af4:10444", "1af4-1044",
	    "1af4:",   ":1044",    "0000:00:01.0", "00:01.0 ", " 00:01.0",   "1af4:104g",
	};
	const struct vm_device *d;

	(void)state;
	test_host = NULL;
	d = given("00:1f.7");
	assert_true(d->pci.given && !d->pci.by_id);
	assert_int_equal(d->pci.name, 0xff);
	assert_string_equal(d->host, "00:1f.7");
	assert_int_equal(d->dma, VM_DMA_ISOLATED);
	assert_int_equal(given("a0:0B.3")->pci.name, 0xa05b);
	d = given("1AF4:1044");
	assert_true(d->pci.given && d->pci.by_id);
	assert_int_equal(d->pci.name, 0x1af41044);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (strlen(wrong[i]) > 1)
			refused(one_function(wrong[i]), VM_REFUSED_VALUE,
			        DISK ": pci: is not \"BB:DD.F\", bus, device and function, nor "
			             "\"VVVV:DDDD\", vendor and device, in hexadecimal");
	}
}

static void what_its_dma_is(void **state)
{
	void *t = one_function("00:01.0");

	(void)state;
	test_host = NULL;
	set_string(t, DISK, "dma", "none");
	refused(t, VM_REFUSED_DMA,
	        DISK ": dma: a PCI function can master the bus: only \"isolated\" keeps it in the "
	             "VM's memory");
	set_bytes(t, DISK, "dma-unchecked", "", 0);
	refused(t, VM_REFUSED_DMA,
	        DISK ": dma: a PCI function can master the bus: only \"isolated\" keeps it in the "
	             "VM's memory");
	set_string(t, DISK, "dma", "isolated");
	refused(t, VM_REFUSED_DMA, DISK ": dma-unchecked: has no meaning but with dma = \"none\"");
	delete_prop(t, DISK, "dma-unchecked");
	set_string(t, DISK, "dma", "trusted");
	refused(t, VM_REFUSED_DMA,
	        DISK ": dma: a PCI function is given behind an IOMMU only: it is \"isolated\"");
	delete_prop(t, DISK, "dma");
	refused(t, VM_REFUSED_MISSING_PROPERTY, DISK ": dma: is missing");
}

static void one_of_both(void **state)
{
	void *t = one_function("00:01.0");

	(void)state;
	test_host = NULL;
	set_string(t, DISK, "host", "clock");
	refused(t, VM_REFUSED_VALUE,
	        DISK ": pci: a device is a node, by host, or a PCI function, not both");
	delete_prop(t, DISK, "host");
	delete_prop(t, DISK, "pci");
	set_string(t, DISK, "dma", "none");
	refused(t, VM_REFUSED_MISSING_PROPERTY, DISK ": host: is missing");
}

static void doubles(void **state)
{
	void *t;

	(void)state;
	test_host = NULL;
	t = give_function(one_function("00:0a.0"), ALPHA, "mine", "00:0A.0");
	refused(t, VM_REFUSED_DUPLICATE, DISK ": pci: VM alpha has it already, as mine");
	t = give_function(one_function("1af4:1044"), BETA, "mine", "1af4:1044");
	refused(t, VM_REFUSED_DUPLICATE, DISK ": pci: VM beta has it already, as mine");
	t = give_function(one_function("1af4:1044"), ALPHA, "mine", "1af4:1041");
	assert_int_equal(accepted(t)->n_functions, 2);
}

/* By its identity: what stops the machine needs consent, and what no IOMMU keeps has none. */
static void acts_on_the_machine(void **state)
{
	void *t = one_function("1B36:0011");

	(void)state;
	test_host = NULL;
	refused(t, VM_REFUSED_PCI,
	        DISK ": pci: 1b36:0011 is a panic notifier, which can stop the machine: "
	             "needs force = \"it may stop the machine\"");
	set_string(t, DISK, "force", "yes");
	refused(t, VM_REFUSED_VALUE, DISK ": force: is not \"it may stop the machine\"");
	set_string(t, DISK, "force", "it may stop the machine");
	assert_true(accepted(t)->vms[1].devices[0].pci.forced);
	set_string(t, DISK, "pci", "1af4:1057");
	refused(t, VM_REFUSED_PCI, DISK ": pci: 1af4:1057 changes memory past the IOMMU");
	delete_prop(t, DISK, "pci");
	set_string(t, DISK, "host", "clock");
	set_string(t, DISK, "dma", "none");
	refused(t, VM_REFUSED_VALUE, DISK ": force: has no meaning but for a PCI function, by pci");
}

static void too_many(void **state)
{
	void *t = good_tree();
	char name[16], pci[16];

	(void)state;
	test_host = NULL;
	for (uint32_t i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "a%u", i);
		snprintf(pci, sizeof(pci), "00:%02x.0", i);
		give_function(t, i % 2 ? ALPHA : BETA, name, pci);
	}
	assert_int_equal(accepted(t)->n_functions, 32);
	set_u32(t, "/vms/gamma", "kernel", RAW_PHANDLE);
	set_u32(t, "/vms/gamma/vcpu0", "harts", 63);
	set_u64(t, "/vms/gamma", "memory", 2 << 20);
	give_function(t, "/vms/gamma", "disk", "01:00.0");
	/* The VM that comes last in the blob. */
	refused(t, VM_REFUSED_TOO_MANY,
	        BETA "/devices/a0: pci: the VMs have more than 32 PCI functions together");
}

static void what_the_host_has(void **state)
{
	void *t = one_function("00:01.0");

	(void)state;
	use_board("plic");
	accepted(t);
	refused(one_function("01:01.0"), VM_REFUSED_PCI,
	        DISK ": pci: is not on bus 00: functions behind a bridge cannot be had");
	refused(one_function("00:10.0"), VM_REFUSED_PCI,
	        DISK
	        ": pci: the host's tree has no IOMMU for it: nothing would keep its DMA in the "
	        "VM's memory");
	set_string(board, IOMMU, "compatible", "riscv,pci-iommu");
	refused(one_function("00:01.0"), VM_REFUSED_PCI,
	        DISK ": pci: the IOMMU of the host's tree is none that Tally drives: it is not "
	             "riscv,iommu");
	delete_prop(board, BRIDGE, "iommu-map");
	refused(one_function("1af4:1044"), VM_REFUSED_PCI,
	        DISK
	        ": pci: the host's tree has no IOMMU for it: nothing would keep its DMA in the "
	        "VM's memory");
	set_u32(board, BRIDGE, "#interrupt-cells", 2);
	refused(one_function("00:01.0"), VM_REFUSED_PCI,
	        DISK ": pci: the host's tree says of the PCI host bridge what cannot be");
	set_string(board, BRIDGE, "status", "disabled");
	refused(one_function("00:01.0"), VM_REFUSED_PCI,
	        DISK ": pci: the host's tree has no PCI host bridge (pci-host-ecam-generic)");
}

/* The guest's bus is where it is in all VMs. */
static void what_the_vm_has(void **state)
{
	fdt64_t piece[] = {cpu_to_fdt64(0x30000000), cpu_to_fdt64(0x200000)};
	struct vm_limits limits = test_limits;
	void *t = one_function("00:01.0");

	(void)state;
	test_host = NULL;
	set_bytes(t, BETA, "memory-at", piece, sizeof(piece));
	limits.ram =
	    (struct vm_ram){.n = 1, .banks = {{0x20000000, 0x90000000}}, .tally = 0x20000000};
	tree_at_the_end(&limits.ram, 16 << 20, &limits.guests);
	refused_on(&limits, t, VM_REFUSED_PCI,
	           DISK ": pci: the VM has memory where its PCI bus would be");
	use_board("plic");
	t = one_function("00:01.0");
	set_u32(t, BETA, "restart-limit", 0);
	give(t, BETA, "more", "/soc/rtc@101000", "none");
	accepted(t);
	set_u32(board, "/soc/rtc@101000", "phandle", 99);
	piece[0] = cpu_to_fdt64(0x300ff000);
	piece[1] = cpu_to_fdt64(0x1000);
	set_bytes(board, "/soc/rtc@101000", "reg", piece, sizeof(piece));
	set_bytes(board, BRIDGE, "reg",
	          (const fdt64_t[]){cpu_to_fdt64(0x50000000), cpu_to_fdt64(1 << 20)}, 16);
	refused(t, VM_REFUSED_PCI,
	        DISK ": pci: the VM has registers of more where its PCI bus would be");
}

static void the_bridge(void **state)
{
	struct host_bridge bridge;
	struct host_chip chip;
	struct host_irq irq;
	uint32_t id;
	int iommu;

	(void)state;
	use_board("plic");
	assert_null(host_bridge_find(board, &bridge));
	assert_int_equal(bridge.ecam, 0x30000000);
	assert_int_equal(bridge.bus, 0);
	assert_int_equal(bridge.n_windows, 1);
	assert_int_equal(bridge.windows[0].bus, 0x40000000);
	assert_int_equal(bridge.windows[0].base, 0x40000000);
	assert_int_equal(bridge.windows[0].size, 0x20000000);
	assert_false(bridge.windows[0].wide);
	chip = host_tree_chip(board);
	assert_true(host_bridge_irq(&bridge, &chip, 0x08, 1, &irq));
	assert_int_equal(irq.source, 33);
	/* Slots equal modulo 4 share a line; the map has no other pins and no slot 2. */
	assert_true(host_bridge_irq(&bridge, &chip, 0x28, 1, &irq));
	assert_int_equal(irq.source, 33);
	assert_false(host_bridge_irq(&bridge, &chip, 0x08, 2, &irq));
	assert_false(host_bridge_irq(&bridge, &chip, 0x10, 1, &irq));
	assert_true(host_bridge_device_id(&bridge, 0x7f, &id, &iommu));
	assert_int_equal(id, 0x7f);
	assert_int_equal(iommu, fdt_path_offset(board, IOMMU));
	assert_false(host_bridge_device_id(&bridge, 0x80, &id, &iommu));
	set_u32(board, BRIDGE, "iommu-map-mask", 0xf);
	assert_null(host_bridge_find(board, &bridge));
	assert_true(host_bridge_device_id(&bridge, 0x80, &id, &iommu));
	assert_int_equal(id, 0);
}

/* The ids of functions, and one that nobody has, whoever else is behind an IOMMU. */
static void the_iommu(void **state)
{
	const uint32_t whole[4] = {0, cpu_to_fdt32(1), 0, cpu_to_fdt32(0x1000000)};
	struct host_iommu iommu;

	(void)state;
	use_board("plic");
	assert_true(host_iommu_find(board, &iommu));
	assert_int_equal(iommu.last_id, 0x7f);
	assert_int_equal(iommu.unused_id, 0x80);
	set_u32(board, "/soc/test@100000", "iommus", 0x1233);
	assert_true(host_iommu_find(board, &iommu));
	assert_int_equal(iommu.last_id, 0x7f);
	assert_int_equal(iommu.unused_id, 0x1234);
	set_bytes(board, "/soc/test@100000", "iommu-map", whole, sizeof(whole));
	assert_true(host_iommu_find(board, &iommu));
	assert_int_equal(iommu.last_id, 0x7f);
	assert_int_equal(iommu.unused_id, 0);
}

int test_vm_functions(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names),           cmocka_unit_test(what_its_dma_is),
	    cmocka_unit_test(one_of_both),     cmocka_unit_test(doubles),
	    cmocka_unit_test(too_many),        cmocka_unit_test(what_the_host_has),
	    cmocka_unit_test(what_the_vm_has), cmocka_unit_test(the_bridge),
	    cmocka_unit_test(the_iommu),       cmocka_unit_test(acts_on_the_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
