/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/pci_place.h"

#include "core/tree/vm_memory.h"

#define BAR_MAX GIB(1) /* bytes; larger ones would take too many tables */

void pci_room_init(struct pci_room *room, const struct host_bridge *bridge)
{
	room->bridge = *bridge;
	for (uint32_t i = 0; i < bridge->n_windows; i++) {
		const struct bridge_window *w = &bridge->windows[i];

		/* Address 0 of the bus means no address. */
		room->next[i] = w->base + (w->bus ? 0 : PAGE_SIZE);
	}
}

/* Returns the end of something that the VM has in a range, or 0 if it is free. */
static uint64_t obstacle(const struct vm_config *vm, uint64_t base, uint64_t size)
{
	static const struct {
		uint64_t base, size;
	} fixed[] = {
	    {GUEST_PLIC_BASE, GUEST_PLIC_SIZE},
	    {GUEST_UART_BASE, GUEST_UART_SIZE},
	    {GUEST_RTC_BASE, GUEST_RTC_SIZE},
	    {GUEST_ECAM_BASE, GUEST_OPERATOR_MEMORY + GUEST_OPERATOR_BYTES - GUEST_ECAM_BASE},
	    {GUEST_APLIC_BASE, GUEST_APLIC_SIZE},
	    {GUEST_IMSIC_BASE, GUEST_IMSIC_SIZE},
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (vm_ranges_overlap(base, size, fixed[i].base, fixed[i].size))
			return fixed[i].base + fixed[i].size;
	}
	for (uint32_t i = 0; vm_piece(vm, i).size; i++) {
		struct vm_piece piece = vm_piece(vm, i);

		if (vm_ranges_overlap(base, size, piece.guest, piece.size))
			return piece.guest + piece.size;
	}
	return 0;
}

/* Finds room in a window, aligned as an address on the bus. Returns 0 if there is none. */
static uint64_t find_room(const struct pci_room *room, uint32_t n, const struct vm_config *vm,
                          uint64_t size)
{
	const struct bridge_window *w = &room->bridge.windows[n];
	uint64_t at = room->next[n], end;

	do {
		at = ALIGN_UP(at - w->base + w->bus, size) - w->bus + w->base;
		if (at < room->next[n] || at - w->base > w->size ||
		    w->size - (at - w->base) < size || at > GUEST_ADDRESS_END - size)
			return 0;
		end = obstacle(vm, at, size);
		at = end ? end : at;
	} while (end);
	return at;
}

/* Extends the VM's window to include a BAR. Returns false if the VM has too many windows. */
static bool widen(struct vm_config *vm, const struct bridge_window *w, uint64_t at, uint64_t size)
{
	struct vm_window *own = vm->windows, *end = own + vm->n_windows;

	while (own < end && own->base - own->bus != w->base - w->bus)
		own++;
	if (own == end) {
		if (vm->n_windows == VM_MAX_WINDOWS)
			return false;
		vm->n_windows++;
		*own = (struct vm_window){at - w->base + w->bus, at, size, w->wide};
		return true;
	}
	own->size = at + size - own->base;
	return true;
}

static bool place_bar(struct pci_room *room, struct pci_bar *bar, struct vm_config *vm,
                      struct vm_device *device)
{
	uint64_t size = ALIGN_UP(bar->size, PAGE_SIZE);

	for (uint32_t i = 0; i < room->bridge.n_windows; i++) {
		const struct bridge_window *w = &room->bridge.windows[i];
		uint64_t at;

		if ((w->wide && !(bar->flags & PCI_BAR_WIDE)) ||
		    (w->prefetch && !(bar->flags & PCI_BAR_PREFETCH)))
			continue;
		at = find_room(room, i, vm, size);
		if (!at || !widen(vm, w, at, size))
			continue;
		room->next[i] = at + size;
		bar->at = at;
		bar->value = at - w->base + w->bus;
		device->regions[device->n_regions].base = at;
		device->regions[device->n_regions++].size = size;
		return true;
	}
	return false;
}

bool pci_place(struct pci_room *room, struct pci_function *f, struct vm_config *vm,
               struct vm_device *device, uint32_t *bar)
{
	_Static_assert(PCI_BARS <= VM_FUNCTION_MAX_BARS, "each BAR may be one");
	for (*bar = 0; *bar < PCI_BARS; ++*bar) {
		struct pci_bar *b = &f->bars[*bar];

		if (!b->size || b->flags & PCI_BAR_IO)
			continue;
		if (b->size > BAR_MAX || !place_bar(room, b, vm, device))
			return false;
	}
	return true;
}
