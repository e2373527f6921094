/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_virt.h"

#include "core/io/ports_parts.h"
#include "core/io/virtio_mmio.h"
#include "core/io/vm_interrupts.h"
#include "core/vcpu/vcpu.h"

uint64_t vm_pairs_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	return vm_plic_read(vm, vplic_unpaired((uint32_t)offset), width);
}

void vm_pairs_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	vm_plic_write(vm, vplic_unpaired((uint32_t)offset), value, width);
}

/* Returns the port in a slot, or NULL. */
static __attribute__((noinline)) struct virtio_pci *device_in(const struct vm *vm, uint64_t slot)
{
	for (uint32_t n = 0; n < vm->config->n_ports; n++) {
		if (vm->config->ports[n].source == slot + 1)
			return &vm->ports[n]->device;
	}
	return NULL;
}

uint64_t vm_slot_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	return virtio_mmio_read(device_in(vm, offset / GUEST_SLOT_STEP),
	                        (uint32_t)(offset % GUEST_SLOT_STEP), width);
}

void vm_slot_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	struct virtio_pci *d = device_in(vm, offset / GUEST_SLOT_STEP);
	uint32_t at = (uint32_t)(offset % GUEST_SLOT_STEP);

	if (!d)
		return;
	if (at != VIRTIO_MMIO_NOTIFY)
		virtio_mmio_write(d, at, (uint32_t)value, width);
	else if (width == 4 && (uint32_t)value == PORT_SENDS)
		this_vcpu()->call.again = !port_send((struct port *)d);
}
