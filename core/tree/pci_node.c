/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/pci_node.h"

#include <libfdt.h>

#define SPACE_32    0x02000000U
#define SPACE_64    0x03000000U
#define LEVEL_HIGH  4U
#define MAP_CELLS   7 /* of a row, at most */
#define RANGE_CELLS 7
#define SLOTS       32U /* of a bus */

bool pci_node_has_bells(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].bell)
			return true;
	}
	return false;
}

bool pci_node_is_there(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].pci.given)
			return true;
	}
	return pci_node_has_bells(vm) || vm->operator.access != VM_OPERATOR_NONE;
}

static uint32_t slots_of_functions(const struct vm_config *vm)
{
	uint32_t taken = 0;

	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].pci.given)
			taken |= 1U << (vm->devices[i].pci.bdf >> 3 & (SLOTS - 1));
	}
	return taken;
}

uint32_t pci_node_operator_slot(const struct vm_config *vm)
{
	uint32_t taken = slots_of_functions(vm), slot = SLOTS - 1;

	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].bell)
			taken |= 1U << pci_node_bell_slot(vm, i);
	}
	while (taken >> slot & 1)
		slot--;
	return slot;
}

uint32_t pci_node_bell_slot(const struct vm_config *vm, uint32_t n)
{
	uint32_t taken = slots_of_functions(vm), slot = SLOTS - 1;

	/* Terminates, because a VM has fewer functions and bells than a bus has slots. */
	for (uint32_t i = 0; i <= n; i++) {
		if (!vm->shared[i].bell)
			continue;
		while (taken >> slot & 1)
			slot--;
		if (i < n)
			slot--;
	}
	return slot;
}

static int put(void *fdt, int error, const char *name, const fdt32_t *cells, int n)
{
	return error ? error : fdt_property(fdt, name, cells, n * (int)sizeof(*cells));
}

static int put_u32(void *fdt, int error, const char *name, uint32_t value)
{
	return error ? error : fdt_property_u32(fdt, name, value);
}

static fdt32_t high(uint64_t value)
{
	return cpu_to_fdt32((uint32_t)(value >> 32));
}

static fdt32_t low(uint64_t value)
{
	return cpu_to_fdt32((uint32_t)value);
}

static int add_range(fdt32_t *cells, const struct vm_window *w)
{
	cells[0] = cpu_to_fdt32(w->wide ? SPACE_64 : SPACE_32);
	cells[1] = high(w->bus);
	cells[2] = low(w->bus);
	cells[3] = high(w->base);
	cells[4] = low(w->base);
	cells[5] = high(w->size);
	cells[6] = low(w->size);
	return RANGE_CELLS;
}

/* Writes `ranges`: the windows of the host's functions, one range for the pages of all bells, and a
 * range for each shared memory with a bell. An operator has one for its registers, and one for its
 * rings. */
static int write_ranges(void *fdt, const struct vm_config *vm, const struct vm_shared *shared)
{
	fdt32_t cells[RANGE_CELLS * (VM_MAX_WINDOWS + 3 + VM_MAX_SHARED)];
	struct vm_window pages = {GUEST_BELL_BASE, GUEST_BELL_BASE, GUEST_BELL_SIZE, false};
	struct vm_window page = {GUEST_OPERATOR_BASE, GUEST_OPERATOR_BASE, GUEST_OPERATOR_SIZE,
	                         false};
	struct vm_window rings = {GUEST_OPERATOR_MEMORY, GUEST_OPERATOR_MEMORY,
	                          GUEST_OPERATOR_BYTES, false};
	int n = 0;

	for (uint32_t i = 0; i < vm->n_windows; i++)
		n += add_range(&cells[n], &vm->windows[i]);
	if (pci_node_has_bells(vm))
		n += add_range(&cells[n], &pages);
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		uint64_t at = vm->shared[i].at, size = shared[vm->shared[i].number].size;
		struct vm_window memory = {at, at, size, (at + size - 1) >> 32};

		if (vm->shared[i].bell)
			n += add_range(&cells[n], &memory);
	}
	if (vm->operator.access != VM_OPERATOR_NONE) {
		n += add_range(&cells[n], &page);
		n += add_range(&cells[n], &rings);
	}
	return put(fdt, 0, "ranges", cells, n);
}

static int add_row(fdt32_t *map, uint32_t devfn, uint32_t pin, uint32_t source,
                   const struct pci_node_chip *chip)
{
	map[0] = cpu_to_fdt32(devfn << 8);
	map[1] = 0;
	map[2] = 0;
	map[3] = cpu_to_fdt32(pin);
	map[4] = cpu_to_fdt32(chip->phandle);
	map[5] = cpu_to_fdt32(source);
	map[6] = cpu_to_fdt32(LEVEL_HIGH);
	return chip->typed ? 7 : 6;
}

/* Writes `interrupt-map`: a row for each INTx line, bell and operator. */
static int write_interrupts(void *fdt, const struct vm_config *vm, const struct pci_node_chip *chip)
{
	static const uint32_t mask[] = {0xff00, 0, 0, 7};
	fdt32_t map[MAP_CELLS * (VM_MAX_DEVICES + VM_MAX_SHARED + 1)], cells[4];
	int n = 0;

	for (uint32_t i = 0; i < vm->n_devices; i++) {
		const struct vm_device *d = &vm->devices[i];

		if (d->pci.given && d->pci.pin)
			n +=
			    add_row(&map[n], d->pci.bdf & 0xff, d->pci.pin, d->irqs[0].guest, chip);
	}
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].bell)
			n += add_row(&map[n], pci_node_bell_slot(vm, i) << 3, 1, vm->shared[i].bell,
			             chip);
	}
	if (vm->operator.access != VM_OPERATOR_NONE)
		n +=
		    add_row(&map[n], pci_node_operator_slot(vm) << 3, 1, vm->operator.source, chip);
	for (int i = 0; i < 4; i++)
		cells[i] = cpu_to_fdt32(mask[i]);
	if (!n)
		return 0;
	return put(fdt, put(fdt, 0, "interrupt-map-mask", cells, 4), "interrupt-map", map, n);
}

int pci_node_write(void *fdt, const struct vm_config *vm, const struct vm_shared *shared,
                   const struct pci_node_chip *chip)
{
	const fdt32_t reg[] = {high(GUEST_ECAM_BASE), low(GUEST_ECAM_BASE), high(GUEST_ECAM_SIZE),
	                       low(GUEST_ECAM_SIZE)};
	const fdt32_t buses[] = {0, 0};
	int error = fdt_begin_node(fdt, "pci@30000000");

	_Static_assert(GUEST_ECAM_BASE == 0x30000000, "the node's name");
	if (!error)
		error = fdt_property_string(fdt, "compatible", "pci-host-ecam-generic");
	if (!error)
		error = fdt_property_string(fdt, "device_type", "pci");
	error = put_u32(fdt, error, "#address-cells", 3);
	error = put_u32(fdt, error, "#size-cells", 2);
	error = put_u32(fdt, error, "#interrupt-cells", 1);
	error = put_u32(fdt, error, "linux,pci-domain", 0);
	error = put(fdt, error, "reg", reg, 4);
	error = put(fdt, error, "bus-range", buses, 2);
	error = put(fdt, error, "dma-coherent", NULL, 0);
	if (!error)
		error = write_ranges(fdt, vm, shared);
	if (!error)
		error = write_interrupts(fdt, vm, chip);
	if (chip->msi)
		error = put_u32(fdt, error, "msi-parent", chip->msi);
	return error ? error : fdt_end_node(fdt);
}
