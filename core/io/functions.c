/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/functions.h"

#include "arch/riscv/devices/pci_reset.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "core/hart/platform.h"
#include "core/io/dma.h"
#include "core/panic.h"
#include "core/vcpu/vm.h"

struct function functions[VM_MAX_FUNCTIONS];
uint32_t n_functions;

/* Iterates over the functions of a VM. */
#define for_each_function(f, of)                                                                   \
	for ((f) = functions; (f) < functions + n_functions; (f)++)                                \
		if ((f)->vm == (of))

bool functions_have_messages(const struct vm_config *vm)
{
	return vm->aia && dma_has_files();
}

void functions_make(struct vm *vm)
{
	bool messages = functions_have_messages(vm->config);
	struct function *f;
	const char *why;

	for (uint32_t i = 0; i < vm->config->n_vcpus && messages; i++)
		dma_add_file(vm, GUEST_IMSIC_BASE, i, vm->vcpus[i]->guest_file_at);

	for_each_function(f, vm)
	{
		vpci_init(&f->shown, &f->pci, f->device->pci.pin, messages);
		vm->pci.functions[vm->pci.n++] = &f->shown;
		why = dma_add(f->device_id, vm, f->device->name);
		if (why)
			platform_lacks("vm %s: %s: %s", vm->config->name, f->device->name, why);
	}
	vpci_join(&vm->pci);
}

void functions_begin(struct vm *vm)
{
	struct function *f;

	sfence_vma_all();
	for_each_function(f, vm)
	{
		vpci_reset(&f->shown);
	}
}

void functions_stop(struct vm *vm)
{
	struct function *f;

	spin_lock(&vm->devices);
	for_each_function(f, vm)
	{
		pci_disable_master(&f->pci);
		f->shown.header.command = 0;
		f->shown.master_blocked = true;
		f->resetting = false;
	}
	spin_unlock(&vm->devices);
}

/* Returns the command between two lives. If the guest never has INTx, it stays disabled; the reset
 * has enabled it. */
static uint16_t resting_command(const struct function *f)
{
	return PCI_COMMAND_MEMORY | (f->shown.intx ? pci_intx(&f->pci) : PCI_COMMAND_INTX_DISABLE);
}

bool function_reset(const struct vm_device *device)
{
	struct function *f = &functions[device->pci.number];
	uint64_t wait =
	    f->pci.reset == PCI_RESET_VIRTIO ? 0 : platform.timebase / 1000 * PCI_FLR_MS;

	if (!f->resetting) {
		if (pci_is_busy(&f->pci))
			return false;
		f->resetting = true;
		f->set_up = false;
		f->msix_cleared = 0;
		pci_reset_begin(&f->pci);
		f->since = csr_read(CSR_TIME);
	}
	if (!f->set_up) {
		if (csr_read(CSR_TIME) - f->since < wait || !pci_reset_done(&f->pci))
			return false;
		pci_set_up(&f->pci, resting_command(f));
		f->set_up = true;
	}
	f->vm->life.waiting = false;
	return pci_clear_msix(&f->pci, &f->msix_cleared);
}

void pci_block_function(uint32_t device_id)
{
	struct function *f = functions;

	while (f->device_id != device_id)
		f++;
	sfence_vma_all();
	spin_lock(&f->vm->devices);
	vpci_block_master(&f->shown);
	spin_unlock(&f->vm->devices);
}
