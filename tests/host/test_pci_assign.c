/* SPDX-License-Identifier: Apache-2.0 */
/* PCI functions given to VMs, on a model of a bus: what boot finds and refuses, and where BARs go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/boot/hs_memory.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/io/dma.h"
#include "core/io/functions.h"
#include "core/panic.h"
#include "core/vcpu/vm.h"
#include "tests/host/board.h"
#include "tests/host/fake_pci.h"
#include "tests/host/vm_tree.h"

/* The bus may be asleep, so nobody looks at it. */
static void nobody_has_any(void **state)
{
	uint32_t before;

	(void)state;
	add_virtio(0x08);
	before = bus[0x08].words[1];
	accept();
	assert_int_equal(n_functions, 0);
	assert_int_equal(bus[0x08].words[1], before);
	platform.host_tree = NULL;
	accept();
}

static void what_nobody_has_is_off(void **state)
{
	(void)state;
	give_vm(0, "00:01.0", false, 0x08);
	add_virtio(0x08);
	add_plain(0x10, true, false);
	accept();
	assert_int_equal(bus[0x10].words[1] & 0xffff, PCI_COMMAND_INTX_DISABLE);
	/* The way to the bus. */
	assert_int_equal(bus[0].words[1] & 0xffff, 7);
}

/* Contexts in the IOMMU that Tally drives would keep nothing behind another one. */
static void behind_another_iommu(void **state)
{
	(void)state;
	give_vm(0, "00:01.0", false, 0x08);
	add_virtio(0x08);
	platform.iommu.base = 0x3011000;
	refuse(IT "the host's tree has no IOMMU for it: nothing would keep its DMA in the VM's "
	          "memory");
}

static void a_virtio_function(void **state)
{
	struct vm_device *d = give_vm(0, "00:01.0", false, 0x08);
	struct model *m = add_virtio(0x08);

	(void)state;
	accept();
	assert_int_equal(n_functions, 1);
	assert_int_equal(m->resets, 1);
	assert_int_equal(d->pci.bdf, 0x08);
	assert_int_equal(d->reset, VM_RESET_PCI);
	assert_int_equal(d->n_regions, 2);
	assert_int_equal(d->regions[0].base, WINDOW);
	assert_int_equal(d->regions[0].size, 0x1000);
	assert_int_equal(d->regions[1].base, WINDOW + 0x4000);
	assert_int_equal(d->regions[1].size, 0x4000);
	assert_int_equal(d->n_irqs, 1);
	assert_int_equal(d->irqs[0].source, 33);
	assert_int_equal(d->irqs[0].guest, 1);
	assert_int_equal(tree.vms[0].n_windows, 1);
	assert_int_equal(tree.vms[0].windows[0].bus, WINDOW);
	assert_int_equal(tree.vms[0].windows[0].size, 0x8000);
	assert_int_equal(functions[0].device_id, 0x08);
	assert_int_equal(m->words[1] & 0xffff, PCI_COMMAND_MEMORY | PCI_COMMAND_INTX_DISABLE);
}

/* Its number is no other's: not that of the operator's function, either. */
static void a_number_of_its_own(void **state)
{
	struct vm_device *d = give_vm(0, "00:01.0", false, 0x08);

	(void)state;
	add_virtio(0x08);
	tree.vms[0].operator.source = 1;
	accept();
	assert_int_equal(d->irqs[0].guest, 2);
}

/* Small BARs have pages of their own, and no two VMs' windows overlap. */
static void places(void **state)
{
	struct vm_device *d[3];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		struct model *m = add_plain(0x08 + 8 * i, true, false);

		put(m, 0x10, 0, 0xffffffe0);
		put(m, 0x18, 0, 0xffff0000);
		put(m, PCI_LINE, 0, 0); /* no INTx */
		d[i] = give_vm(i / 2, "00:01.0", false, 0x08 + 8 * i);
	}
	accept();
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(d[i]->n_regions, 2);
		assert_int_equal(d[i]->regions[0].size, 0x1000);
		assert_int_equal(d[i]->regions[1].base % 0x10000, 0);
		assert_int_equal(d[i]->n_irqs, 0);
		assert_true(!i || d[i]->regions[0].base >= d[i - 1]->regions[1].base + 0x10000);
	}
	assert_true(tree.vms[1].windows[0].base >=
	            tree.vms[0].windows[0].base + tree.vms[0].windows[0].size);
}

/* Where the VM has its memory is no room. */
static void beside_memory(void **state)
{
	struct vm_device *d = give_vm(0, "00:01.0", false, 0x08);

	(void)state;
	tree.vms[0].ram_base = WINDOW;
	add_virtio(0x08);
	accept();
	assert_int_equal(d->regions[0].base, WINDOW + 0x1000000);
}

static void by_vendor_and_device(void **state)
{
	struct vm_device *d = give_vm(1, "1af4:1044", true, 0x1af41044);

	(void)state;
	add_plain(0x08, true, false);
	add_virtio(0x20);
	put(&bus[0x20], PCI_LINE, 0, 0);
	accept();
	assert_int_equal(d->pci.bdf, 0x20);
	setup(NULL);
	give_vm(1, "1af4:1044", true, 0x1af41044);
	refuse(LAST "there is no function 1af4:1044 on the host's bus");
	add_virtio(0x20);
	add_virtio(0x28);
	refuse(LAST "1af4:1044 is the vendor and device of 00:04.0 and 00:05.0: name it by one of "
	            "these");
}

static void kinds(void **state)
{
	(void)state;
	give_vm(0, "00:01.0", false, 0x08);
	refuse(IT "there is no function 00:01.0 on the host's bus");
	add(0x08, 0x00141b36, 0x080600);
	refuse(IT "00:01.0 is an IOMMU");
	put(&bus[0x08], PCI_CLASS, 0x06000000, 0);
	refuse(IT "00:01.0 is the host bridge");
	put(&bus[0x08], PCI_CLASS, 0x06040000, 0);
	put(&bus[0x08], 0x0c, 0x00010000, 0);
	refuse(IT "00:01.0 is a bridge");
	put(&bus[0x08], 0x0c, 0, 0);
	put(&bus[0x08], PCI_CLASS, 0xff000000, 0);
	refuse(IT "it has no registers");
	put(&bus[0x08], 0x20, 1, 0xffffffe0);
	refuse(IT "its registers are in I/O space only, which VMs do not have");
	no_dma = "the IOMMU does not answer";
	refuse(IT "the IOMMU does not answer");
}

/* Of all classes, those that act on the machine are refused without consent. */
static void acts_on_the_machine(void **state)
{
	static const uint16_t acts[] = {0x0601, 0x0680, 0x0800, 0x0804,
	                                0x0807, 0x0880, 0x0c05, 0x0c07};
	static const uint16_t works[] = {0x0100, 0x0500, 0x0801, 0x0805, 0x0c03, 0xff00};
	struct vm_device *d;

	(void)state;
	d = give_vm(0, "00:01.0", false, 0x08);
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		const char *kind = acts[i] >> 8 == 6   ? "a bridge to parts of the machine"
		                   : acts[i] >> 8 == 8 ? "a peripheral of the system"
		                   : acts[i] == 0x0c05 ? "an SMBus"
		                                       : "an IPMI interface";
		char words[192];

		snprintf(words, sizeof(words),
		         IT "abcd:1234 is %s, which can stop the machine: needs force = \"it may "
		            "stop the machine\"",
		         kind);
		add(0x08, 0x1234abcd, (uint32_t)acts[i] << 8);
		refuse(words);
	}
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++) {
		add(0x08, 0x1234abcd, (uint32_t)works[i] << 8);
		refuse(IT "it has no registers");
	}
	/* Consent helps where it is enough. */
	add(0x08, 0x00111b36, 0x088000);
	d->pci.forced = true;
	refuse(IT "it has no registers");
	add(0x08, 0x10451af4, 0x00ff00);
	refuse(IT "1af4:1045 changes memory past the IOMMU");
}

/* Each function that is refused is told, and the IOMMU once. */
static void all_of_them(void **state)
{
	(void)state;
	give_vm(0, "00:09.0", false, 0x48);
	give_vm(0, "00:01.0", false, 0x08);
	give_vm(1, "00:0a.0", false, 0x50);
	add_virtio(0x08);
	refuse(IT "there is no function 00:09.0 on the host's bus\n" LAST
	          "there is no function 00:0a.0 on the host's bus");
	setup(NULL);
	give_vm(0, "00:01.0", false, 0x08);
	give_vm(1, "00:02.0", false, 0x10);
	add_virtio(0x08);
	add_virtio(0x10);
	no_dma = "the IOMMU does not answer";
	refuse(IT "the IOMMU does not answer");
}

static void several_functions(void **state)
{
	(void)state;
	add_virtio(0x08);
	add_virtio(0x09);
	give_vm(0, "00:01.1", false, 0x09);
	/* The device does not say that it has more. */
	refuse(IT "there is no function 00:01.1 on the host's bus");
	put(&bus[0x08], 0x0c, 0x00800000, 0);
	refuse(IT "00:01.1 is found by a guest that has 00:01.0 too, which has to come before it");
	give_vm(1, "00:01.0", false, 0x08);
	tree.vms[0].devices[0].pci.name = 0x08;
	refuse(LAST "VM alpha has 00:01.0 already, as it");
	setup(NULL);
	add_virtio(0x08);
	add_virtio(0x09);
	put(&bus[0x08], 0x0c, 0x00800000, 0);
	give_vm(0, "00:01.0", false, 0x08);
	give_vm(1, "00:01.1", false, 0x09);
	refuse(LAST "00:01.1 is a function of the same device as 00:01.0, which VM alpha has: "
	            "nothing keeps the two apart");
	setup(NULL);
	add_virtio(0x08);
	add_virtio(0x09);
	put(&bus[0x08], 0x0c, 0x00800000, 0);
	give_vm(0, "00:01.0", false, 0x08);
	give_vm(0, "00:01.1", false, 0x09);
	accept();
	/* Of one line, and so of one source. */
	assert_int_equal(tree.vms[0].devices[1].irqs[0].guest, 1);
	assert_int_equal(tree.n_irqs, 1);
}

static void no_room(void **state)
{
	(void)state;
	add_plain(0x08, true, false);
	put(&bus[0x08], 0x10, 0, 0xc0000000);
	give_vm(0, "00:01.0", false, 0x08);
	refuse(IT "there is no room for its BAR 0 of 1048576 KiB");
	setup(NULL);
	/* The first of 256 MiB leaves room for one more. */
	for (uint32_t i = 1; i < 4; i++) {
		put(add_plain(8 * i, true, false), 0x10, 0, 0xf0000000);
		put(&bus[8 * i], PCI_LINE, 0, 0);
		give_vm(0, "00:01.0", false, 8 * i);
	}
	refuse(IT "there is no room for its BAR 0 of 262144 KiB");
	assert_int_equal(n_functions, 2);
}

static void interrupts(void **state)
{
	(void)state;
	add_virtio(0x08);
	add_virtio(0x28);
	give_vm(0, "00:01.0", false, 0x08);
	give_vm(1, "00:05.0", false, 0x28);
	refuse(LAST "shares interrupt 33 with it of VM alpha, which is not this VM's");
	setup(NULL);
	add_virtio(0x10);
	give_vm(0, "00:02.0", false, 0x10);
	refuse(IT "its interrupt does not go to the harts' PLIC or APLIC");
	setup(NULL);
	add_virtio(0x08);
	give_vm(0, "00:01.0", false, 0x08);
	set_u32(board, "/soc/rtc@101000", "interrupts", 33);
	refuse(IT "shares interrupt 33 with rtc@101000, which is not this VM's");
	setup(NULL);
	add_virtio(0x08);
	give_vm(0, "00:01.0", false, 0x08);
	tree.n_irqs = VM_MAX_ALL_IRQS;
	refuse(IT "the devices of the VM, or of all, have too many interrupts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(nobody_has_any, setup),
	    cmocka_unit_test_setup(what_nobody_has_is_off, setup),
	    cmocka_unit_test_setup(behind_another_iommu, setup),
	    cmocka_unit_test_setup(a_virtio_function, setup),
	    cmocka_unit_test_setup(a_number_of_its_own, setup),
	    cmocka_unit_test_setup(places, setup),
	    cmocka_unit_test_setup(beside_memory, setup),
	    cmocka_unit_test_setup(by_vendor_and_device, setup),
	    cmocka_unit_test_setup(kinds, setup),
	    cmocka_unit_test_setup(acts_on_the_machine, setup),
	    cmocka_unit_test_setup(all_of_them, setup),
	    cmocka_unit_test_setup(several_functions, setup),
	    cmocka_unit_test_setup(no_room, setup),
	    cmocka_unit_test_setup(interrupts, setup),
	};
	int failed = cmocka_run_group_tests_name("pci: assignment", tests, NULL, NULL);

	return failed + test_pci_resets();
}
