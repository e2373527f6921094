/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/pci_node.h"

#include <libfdt.h>

#include "core/tree/vm_memory.h"

#define SPACE_32    0x02000000U
#define SPACE_64    0x03000000U
#define LEVEL_HIGH  4U
#define MAP_CELLS   7 /* of a row, at most */
#define RANGE_CELLS 7
#define SLOTS       32U /* of a bus */

static bool has_bells(const struct vm_config *vm)
{
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].bell)
			return true;
	}
	return false;
}

bool pci_node_is_there(const struct vm_config *vm)
{
	return vm_guard(vm) || has_bells(vm) ||
	       vm->operator.access != VM_OPERATOR_NONE || vm->key_source || vm_pci_ports(vm);
}

uint32_t pci_node_slot(const struct vm_config *vm, uint32_t n)
{
	uint32_t taken = 0, slot = SLOTS;

	for (uint32_t i = 0; i < vm->n_devices; i++) {
		if (vm->devices[i].pci.given)
			taken |= 1U << (vm->devices[i].pci.bdf >> 3 & (SLOTS - 1));
	}
	_Static_assert(VM_MAX_DEVICES + VM_MAX_SHARED + 2 + VM_MAX_PORTS <= SLOTS, "terminates");
	for (uint32_t i = 0; i <= n; i++) {
		if (i < vm->n_shared && !vm->shared[i].bell)
			continue;
		do
			slot--;
		while (taken >> slot & 1);
	}
	return slot;
}

static int add_range(fdt32_t *cells, const struct vm_window *window)
{
	cells[0] = cpu_to_fdt32(window->wide ? SPACE_64 : SPACE_32);
	fdt64_st(&cells[1], window->bus);
	fdt64_st(&cells[3], window->base);
	fdt64_st(&cells[5], window->size);
	return RANGE_CELLS;
}

/* Writes `ranges`: one range for the pages of all bells, and a range for each shared memory with a
 * bell. An operator has one for its registers, and one for its rings; a power key has one for its
 * registers, as all ports together have. The windows of the host's functions come last, because
 * U-Boot places BARs in the last range of a kind. */
static void write_ranges(struct dt_writer *w, const struct vm_config *vm,
                         const struct vm_shared *shared)
{
	fdt32_t cells[RANGE_CELLS * (VM_MAX_WINDOWS + 5 + VM_MAX_SHARED)];
	struct vm_window pages = {GUEST_BELL_BASE, GUEST_BELL_BASE, GUEST_BELL_SIZE, false};
	struct vm_window page = {GUEST_OPERATOR_BASE, GUEST_OPERATOR_BASE, GUEST_OPERATOR_SIZE,
	                         false};
	struct vm_window key = {GUEST_KEY_BASE, GUEST_KEY_BASE, GUEST_KEY_SIZE, false};
	struct vm_window ports = {GUEST_PORT_BASE, GUEST_PORT_BASE, GUEST_PORT_SIZE, false};
	struct vm_window rings = {GUEST_OPERATOR_MEMORY, GUEST_OPERATOR_MEMORY,
	                          GUEST_OPERATOR_BYTES, false};
	int n = 0;

	if (has_bells(vm))
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
	if (vm->key_source)
		n += add_range(&cells[n], &key);
	if (vm_pci_ports(vm))
		n += add_range(&cells[n], &ports);
	for (uint32_t i = 0; i < vm->n_windows; i++)
		n += add_range(&cells[n], &vm->windows[i]);
	dt_put(w, "ranges", cells, (size_t)n * sizeof(cells[0]));
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

/* Writes `interrupt-map`: a row for each INTx line, bell, operator, power key and port. */
static void write_interrupts(struct dt_writer *w, const struct vm_config *vm,
                             const struct pci_node_chip *chip)
{
	const fdt32_t mask[] = {cpu_to_fdt32(0xff00), 0, 0, cpu_to_fdt32(7)};
	fdt32_t map[MAP_CELLS * (VM_MAX_DEVICES + VM_MAX_SHARED + 2 + VM_MAX_PORTS)];
	int n = 0;

	for (uint32_t i = 0; i < vm->n_devices; i++) {
		const struct vm_device *d = &vm->devices[i];

		if (d->pci.given && d->pci.pin)
			n +=
			    add_row(&map[n], d->pci.bdf & 0xff, d->pci.pin, d->irqs[0].guest, chip);
	}
	for (uint32_t i = 0; i < vm->n_shared; i++) {
		if (vm->shared[i].bell)
			n += add_row(&map[n], pci_node_slot(vm, i) << 3, 1, vm->shared[i].bell,
			             chip);
	}
	if (vm->operator.access != VM_OPERATOR_NONE)
		n += add_row(&map[n], pci_node_slot(vm, vm->n_shared) << 3, 1, vm->operator.source,
		             chip);
	if (vm->key_source)
		n += add_row(&map[n], pci_node_slot(vm, vm->n_shared + 1) << 3, 1, vm->key_source,
		             chip);
	for (uint32_t i = 0; i < vm_pci_ports(vm); i++)
		n += add_row(&map[n], pci_node_slot(vm, vm->n_shared + 2 + i) << 3, 1,
		             vm->ports[i].source, chip);
	if (!n)
		return;
	dt_put(w, "interrupt-map-mask", mask, sizeof(mask));
	dt_put(w, "interrupt-map", map, (size_t)n * sizeof(map[0]));
}

void pci_node_write(struct dt_writer *w, const struct vm_config *vm, const struct vm_shared *shared,
                    const struct pci_node_chip *chip)
{
	const fdt64_t reg[] = {cpu_to_fdt64(GUEST_ECAM_BASE), cpu_to_fdt64(GUEST_ECAM_SIZE)};
	const fdt32_t buses[] = {0, 0};

	_Static_assert(GUEST_ECAM_BASE == 0x30000000, "the node's name");
	dt_begin(w, "pci@30000000");
	dt_put_string(w, "compatible", "pci-host-ecam-generic");
	dt_put_string(w, "device_type", "pci");
	dt_put_u32(w, "#address-cells", 3);
	dt_put_u32(w, "#size-cells", 2);
	dt_put_u32(w, "#interrupt-cells", 1);
	dt_put_u32(w, "linux,pci-domain", 0);
	dt_put(w, "reg", reg, sizeof(reg));
	dt_put(w, "bus-range", buses, sizeof(buses));
	dt_put_flag(w, "dma-coherent");
	write_ranges(w, vm, shared);
	write_interrupts(w, vm, chip);
	if (chip->msi)
		dt_put_u32(w, "msi-parent", chip->msi);
	dt_end(w);
}
