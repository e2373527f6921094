/* SPDX-License-Identifier: Apache-2.0 */
/* PCI functions given to VMs, on a model of a bus: what boot tries, resets, messages, and the end
 * of a life. */
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

static void what_is_tried(void **state)
{
	struct model *m = add_virtio(0x08);

	(void)state;
	give_vm(0, "00:01.0", false, 0x08);
	m->features = 1;
	refuse(IT "it does not offer VIRTIO_F_ACCESS_PLATFORM: its DMA would go past the IOMMU");
	/* Without a common configuration that fits its BAR nobody can tell. */
	m->features = 3;
	put(m, 0x48, 0x3fe0, 0);
	tree.vms[0].devices[0].n_regions = 0;
	refuse(IT "it does not offer VIRTIO_F_ACCESS_PLATFORM: its DMA would go past the IOMMU");
	put(m, 0x48, COMMON, 0);
	m->after_reset = 1;
	tree.vms[0].devices[0].n_regions = 0;
	refuse(IT "it does not come to rest after a reset");
}

static void resets(void **state)
{
	(void)state;
	for (int how = 0; how < 2; how++) {
		setup(NULL);
		add_plain(0x08, how == 0, how == 1);
		give_vm(0, "00:01.0", false, 0x08);
		accept();
		assert_int_equal(bus[0x08].resets, 1);
		/* Its BAR has its place again, and it sends no messages. */
		assert_int_equal(bus[0x08].words[4], WINDOW);
		assert_int_equal(bus[0x08].words[0xb0 / 4], 0x00800005);
		setup(NULL);
		add_plain(0x08, how == 0, how == 1)->dead = true;
		give_vm(0, "00:01.0", false, 0x08);
		refuse(IT "it does not come to rest after a reset");
	}
	setup(NULL);
	add_plain(0x08, false, false);
	give_vm(0, "00:01.0", false, 0x08);
	refuse(IT "Tally knows no reset of it: the VM has to have one life, by restart = \"never\" "
	          "and restart-limit = <0>");
	setup(NULL);
	add_plain(0x08, false, false);
	give_vm(0, "00:01.0", false, 0x08);
	tree.vms[0].restart_limit = 0;
	accept();
	assert_int_equal(tree.vms[0].devices[0].reset, VM_RESET_UNKNOWN);
}

/* Of a VM with an AIA, where the IOMMU has a table of interrupt files. */
static void messages(void **state)
{
	static struct vcpu vcpus[2];

	(void)state;
	for (uint32_t works = 0; works < 2; works++) {
		setup(NULL);
		n_files = 0;
		files = works;
		add_virtio(0x08);
		add_virtio(0x28);
		give_vm(0, "00:01.0", false, 0x08);
		give_vm(1, "00:05.0", false, 0x28);
		tree.vms[1].aia = true;
		tree.vms[1].n_vcpus = 2;
		if (!works) {
			refuse(LAST "shares interrupt 33 with it of VM alpha, which is not this "
			            "VM's");
			continue;
		}
		accept();
		assert_int_equal(tree.vms[1].devices[0].n_irqs, 0);
		for (uint32_t i = 0; i < 2; i++) {
			vcpus[i].guest_file_at.a = 0x28001000 + 0x1000 * i;
			vms[1].vcpus[i] = &vcpus[i];
		}
		functions_make(&vms[0]);
		functions_make(&vms[1]);
		assert_int_equal(n_files, 2);
		assert_int_equal(functions[0].shown.msix, 0);
		assert_int_equal(functions[1].shown.msix, 0x60);
		functions_begin(&vms[1]);
		/* No pin, and INTx is off whatever it writes. */
		vpci_write(&vms[1], 0x28 * PCI_PAGE + PCI_COMMAND, 0, 2);
		assert_int_equal(bus[0x28].words[1] & 0xffff, 0x402);
		assert_int_equal(vpci_read(&vms[1], 0x28 * PCI_PAGE + PCI_PIN, 1), 0);
	}
}

/* The end of a life, step by step. */
static void lives(void **state)
{
	struct model *m = add_virtio(0x08), *plain = add_plain(0x20, true, false);
	struct vm_device *d = give_vm(0, "00:01.0", false, 0x08);
	struct vm_device *p = give_vm(0, "00:04.0", false, 0x20);
	struct vm *vm = &vms[0];
	uint64_t page = 0x08 * PCI_PAGE;

	(void)state;
	accept();
	functions_make(vm);
	assert_int_equal(vm->pci.n, 2);
	vm->life.number = 7;
	functions_begin(vm);
	assert_int_equal(m->words[1] & 0xffff, PCI_COMMAND_MEMORY);
	vpci_write(vm, page + PCI_COMMAND, 6, 2);
	assert_int_equal(vpci_read(vm, page, 4), 0x10441af4);
	assert_int_equal(m->words[1] & 0xffff, 6);
	/* Muted, by the number that the IOMMU has for it. */
	pci_block_function(0x08);
	assert_int_equal(m->words[1] & 0xffff, 2);
	vpci_write(vm, page + PCI_COMMAND, 6, 2);
	assert_int_equal(m->words[1] & 0xffff, 2);

	m->status = 15;
	plain->busy = true;
	functions_stop(vm);
	assert_int_equal(m->words[1] & 0xffff, 0x002);
	assert_int_equal(plain->words[1] & 0xffff, 0x002);
	assert_false(unfenced);
	assert_true(function_reset(d));
	assert_false(unfenced);
	assert_int_equal(m->status, 0);
	assert_int_equal(cleared, 4);
	/* It waits for its requests, then 100 ms, then for an answer. */
	assert_false(function_reset(p));
	assert_int_equal(plain->resets, 1);
	plain->busy = false;
	tick = 0;
	assert_false(function_reset(p));
	assert_int_equal(plain->resets, 2);
	host_csrs[CSR_TIME] += 999999;
	assert_false(function_reset(p));
	host_csrs[CSR_TIME] += 1;
	plain->dead = true;
	assert_false(function_reset(p));
	plain->dead = false;
	plain->words[0xb0 / 4] |= 0x10000;
	m->words[0x60 / 4] |= 0xc0000000;
	assert_true(function_reset(p));
	assert_int_equal(plain->words[0xb0 / 4], 0x00800005);
	assert_false(unfenced);
	assert_int_equal(plain->resets, 2);
	assert_int_equal(plain->words[4], (uint32_t)p->regions[0].base);
	assert_int_equal(plain->words[1] & 0xffff, 0x002);
	tick = 1000;
	/* The next life begins as the one before. */
	vm->life.number = 8;
	functions_begin(vm);
	assert_int_equal(vpci_read(vm, page + PCI_COMMAND, 2), 0);
	vpci_write(vm, page + PCI_COMMAND, 6, 2);
	assert_int_equal(m->words[1] & 0xffff, 6);
}

/* A function whose INTx its VM does not have: a reset turns it on, and Tally off again. */
static void without_intx(void **state)
{
	struct model *m = add_plain(0x20, true, false);
	struct vm_device *d = give_vm(0, "00:04.0", false, 0x20);
	struct vm *vm = &vms[0];

	(void)state;
	put(m, PCI_LINE, 0, 0xff);
	accept();
	functions_make(vm);
	functions_begin(vm);
	assert_int_equal(m->words[1] & 0xffff, 0x402);
	functions_stop(vm);
	assert_false(function_reset(d));
	assert_int_equal(m->words[1] & 0xffff, 0);
	host_csrs[CSR_TIME] += 1000000;
	assert_true(function_reset(d));
	assert_int_equal(m->resets, 2);
	assert_int_equal(m->words[1] & 0xffff, 0x402);
}

int test_pci_resets(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(what_is_tried, setup), cmocka_unit_test_setup(resets, setup),
	    cmocka_unit_test_setup(messages, setup),      cmocka_unit_test_setup(lives, setup),
	    cmocka_unit_test_setup(without_intx, setup),
	};

	return cmocka_run_group_tests_name("pci: resets", tests, NULL, NULL);
}
