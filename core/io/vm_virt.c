/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_virt.h"

#include "core/io/vm_interrupts.h"

uint64_t vm_pairs_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	return vm_plic_read(vm, vplic_unpaired((uint32_t)offset), width);
}

void vm_pairs_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	vm_plic_write(vm, vplic_unpaired((uint32_t)offset), value, width);
}

/* MagicValue and Version. DeviceID is 0: there is no device, and other registers have no meaning
 * (virtio 1.2, 4.2.2.2). */
uint64_t vm_slot_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	(void)vm;
	if (width != 4)
		return 0;
	switch (offset % GUEST_SLOT_STEP) {
	case 0:
		return 0x74726976; /* "virt", little-endian */
	case 4:
		return 2;
	default:
		return 0;
	}
}

void vm_slot_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	(void)vm;
	(void)offset;
	(void)value;
	(void)width;
}
