/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/pci_bus.h"

#include "arch/riscv/devices/pci.h"
#include "core/io/bells.h"
#include "core/io/functions.h"
#include "core/io/operator_function.h"

/* From QEMU's range for experiments (docs/shared.md). */
#define BELL_PCI_ID 0x10f01af4U

#define CLASS         0x05800001U /* another memory controller; revision 1 */
#define SUBSYSTEM     BELL_PCI_ID
#define INTERRUPT_PIN (1U << 8) /* INTA */
#define BAR_MEMORY    2U        /* a 64-bit BAR, with the next one */

static struct bell *find(const struct vm *vm, uint32_t offset)
{
	for (uint32_t n = 0; n < vm->config->n_shared; n++) {
		struct bell *bell = bell_of(vm, n);

		if (bell && bell->slot << 3 == offset / PCI_PAGE)
			return bell;
	}
	return NULL;
}

static uint32_t read_bar(const struct bell *bell, uint32_t n)
{
	bool sizing = bell->header.sizing >> n & 1;
	uint64_t memory = sizing ? -bell->shared->size : bell->at;

	switch (n) {
	case 0:
		return sizing ? -(uint32_t)GUEST_BELL_STEP
		              : (uint32_t)(GUEST_BELL_BASE + bell->n * GUEST_BELL_STEP);
	case BAR_MEMORY:
		return (uint32_t)memory | PCI_BAR_WIDE;
	case BAR_MEMORY + 1:
		return (uint32_t)(memory >> 32);
	default:
		return 0;
	}
}

static uint32_t read_word(const struct bell *bell, uint32_t at)
{
	if (at >= PCI_BAR && at < PCI_BAR + 4 * PCI_BARS)
		return read_bar(bell, (at - PCI_BAR) / 4);
	switch (at) {
	case PCI_ID:
		return BELL_PCI_ID;
	case PCI_COMMAND:
		return bell->header.command |
		       (bell->state & bell->mask ? (uint32_t)PCI_STATUS_INTX << 16 : 0);
	case PCI_CLASS:
		return CLASS;
	case PCI_SUBSYSTEM:
		return SUBSYSTEM;
	case PCI_LINE:
		return INTERRUPT_PIN | bell->header.line;
	default:
		return 0;
	}
}

static uint64_t access_bell(struct bell *bell, uint32_t offset, bool store, uint64_t value,
                            uint32_t width)
{
	uint32_t at = offset % (uint32_t)PCI_PAGE & ~3U, shift = offset % 4 * 8;
	uint32_t ones = width < 4 ? (1U << 8 * width) - 1 : ~0U;

	if (width > 4 || offset % width)
		return ~0U;
	spin_lock(&bell->vm->devices);
	if (!store)
		value = read_word(bell, at) >> shift & ones;
	else if (vpci_write_header(&bell->header, at / 4, (uint32_t)value << shift, ones << shift))
		bell_update(bell);
	spin_unlock(&bell->vm->devices);
	return value;
}

static uint64_t access(struct vm *vm, uint64_t offset, bool store, uint64_t value, uint32_t width)
{
	struct bell *bell = find(vm, (uint32_t)offset);

	if (operator_function_config(vm, offset, store, &value, width))
		return value;
	return bell ? access_bell(bell, (uint32_t)offset, store, value, width)
	            : functions_access(vm, offset, store, value, width);
}

uint64_t pci_bus_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	return access(vm, offset, false, 0, width);
}

void pci_bus_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	(void)access(vm, offset, true, value, width);
}
