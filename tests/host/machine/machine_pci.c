/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the machine's PCI bus, one for each VM; some VMs have theirs. Each is reset in
 * one of three ways, and may be busy for a while, or not come back. What must hold: nobody masters
 * the bus but in a life of its VM; a reset begins when no request is on its way, and a life with a
 * function that is as after its reset.
 */
#include <string.h>

#include "arch/riscv/devices/pci_reset.h"
#include "core/io/functions.h"
#include "tests/host/fake_iommu.h"
#include "tests/host/machine/model.h"

#define EXPRESS       0x80U
#define AF            0xa0U
#define COMMON_STATUS 20U
#define PLATFORM      2U /* of the upper features: ACCESS_PLATFORM */

struct slot {
	uint32_t words[PCI_HEADER_END / 4], writable[PCI_HEADER_END / 4];
	enum pci_reset kind;
	bool busy, gone;
	uint32_t status, select; /* of virtio */
	uint64_t back_at;        /* after a FLR; if it does not come back Tally waits until then */
};

static struct slot slots[VM_MAX_VMS];

static void put(struct slot *s, uint32_t offset, uint32_t value, uint32_t writable)
{
	s->words[offset / 4] = value;
	s->writable[offset / 4] = writable;
}

/* With a BAR of 4 KiB for MSI-X and one of 16 KiB, in which a virtio function has its status. */
static void make(struct slot *s)
{
	static const enum pci_reset kinds[] = {PCI_RESET_VIRTIO, PCI_RESET_VIRTIO,
	                                       PCI_RESET_EXPRESS, PCI_RESET_AF};

	*s = (struct slot){.kind = kinds[below(&machine.chance, ARRAY_SIZE(kinds))]};
	put(s, PCI_ID, s->kind == PCI_RESET_VIRTIO ? 0x10441af4 : 0x11e81234, 0);
	put(s, PCI_COMMAND, 0x00100007, 0x0407);
	put(s, PCI_CLASS, 0x00ff0000, 0);
	put(s, 0x14, 0, 0xfffff000);
	put(s, 0x20, 0xc, 0xffffc000);
	put(s, 0x24, 0, 0xffffffff);
	put(s, PCI_LINE, 0, 0xff);
	put(s, PCI_CAPABILITIES, 0x40, 0);
	put(s, 0x40, 0x00046011, 0xc0000000);
	put(s, 0x44, 0x800 | 1, 0);
	put(s, 0x60, 0x01108009, 0);
	put(s, 0x64, 4, 0);
	put(s, 0x68, 0x100, 0);
	put(s, EXPRESS, AF << 8 | PCI_CAP_EXPRESS, 0);
	put(s, EXPRESS + 4, s->kind == PCI_RESET_EXPRESS ? 0x10000000 : 0, 0);
	put(s, AF, (s->kind == PCI_RESET_AF ? 3U << 24 : 0) | 6U << 16 | PCI_CAP_AF, 0);
}

void bus_reset(void)
{
	for (uint32_t i = 0; i < VM_MAX_VMS; i++)
		make(&slots[i]);
}

/* Device i + 1 is the i-th VM's. */
static struct slot *slot_of(uint64_t page)
{
	uint64_t n = (page - MACHINE_ECAM_BASE) / PCI_PAGE;

	return n % 8 == 0 && n && n / 8 <= machine.kind.n_vms ? &slots[n / 8 - 1] : NULL;
}

static bool is_config(uint64_t page)
{
	return page - MACHINE_ECAM_BASE < MACHINE_ECAM_SIZE;
}

/* Whose BAR 4 is there, and decodes; `offset` becomes that in the BAR. */
static struct slot *at_bar(uint64_t at, uint32_t bar, uint64_t *offset)
{
	for (uint32_t i = 0; i < machine.kind.n_vms; i++) {
		struct slot *s = &slots[i];
		uint64_t base = s->words[4 + bar] & ~15U;

		*offset = at - base;
		if (s->words[1] & PCI_COMMAND_MEMORY && base &&
		    *offset < (bar == 4 ? 0x4000U : 0x1000U))
			return s;
	}
	return NULL;
}

/* It does not answer while it is reset. A virtio function always does. */
static bool answers(const struct slot *s)
{
	return s && ((!s->gone && machine.time >= s->back_at) || s->kind == PCI_RESET_VIRTIO);
}

/* Whether the end of a VM, or its start, waits for an IOMMU that does not answer. */
static bool waits_for_iommu(const struct vm *vm)
{
	return fake_iommu.stops && (vm->state == VM_CLEARING || vm->state == VM_LOADING) &&
	       vm->life.waiting && vm->life.quiet_steps == vm->config->n_devices;
}

/* A reset takes long, or the wait for an IOMMU that does not answer, and little else happens.
 * Nobody runs any later by it. At other times it would be wrong: between two slices of other work
 * the operator would type faster than a hart can answer. */
void bus_passes_time(void)
{
	uint64_t ticks = 0;

	for (uint32_t i = 0; i < machine.kind.n_vms; i++) {
		if (machine.time < slots[i].back_at || (i < n_vms && waits_for_iommu(&vms[i])))
			ticks = below(&machine.chance, 500);
	}
	machine.time += ticks;
	machine.stalled += ticks;
}

bool bus_masters(uint32_t vm)
{
	return slots[vm].words[1] & PCI_COMMAND_MASTER;
}

bool bus_is_gone(uint32_t vm)
{
	return slots[vm].gone;
}

void bus_requests(uint32_t vm)
{
	bool busy = percent(&machine.chance, 20);

	/* A function that has lost the bus begins none. */
	slots[vm].busy |= busy && bus_masters(vm);
}

static void forget(struct slot *s)
{
	s->status = s->select = 0;
	for (uint32_t i = 0; i < ARRAY_SIZE(s->words); i++)
		s->words[i] &= ~s->writable[i];
}

static void reset(struct slot *s)
{
	if (s->busy)
		machine_differs("a function is reset, and its requests are on their way");
	if (s->words[1] & PCI_COMMAND_MASTER)
		machine_differs("a function is reset that masters the bus");
	s->gone = machine.booted && below(&machine.chance, 60) == 0;
	if (s->gone)
		s->back_at = machine.time + MACHINE_TIMEBASE;
	if (s->kind == PCI_RESET_VIRTIO) {
		s->status = s->gone;
		return;
	}
	forget(s);
	if (!s->gone)
		s->back_at = machine.time + MACHINE_TIMEBASE / 1000 * PCI_FLR_MS;
}

/* --- registers ----------------------------------------------------------------------- */

uint32_t pci_read32(uint64_t page, uint32_t offset)
{
	struct slot *s = slot_of(page);
	uint64_t at;

	machine_sees();
	if (is_config(page)) {
		if (!answers(s))
			return PCI_NOBODY;
		if (offset == EXPRESS + 8 && s->busy) {
			s->busy = percent(&machine.chance, 70);
			return 0x00200000;
		}
		return s->words[offset / 4];
	}
	s = at_bar(page + offset, 4, &at);
	return !s ? PCI_NOBODY : at == 0x104 && s->select ? PLATFORM : 0;
}

uint16_t pci_read16(uint64_t page, uint32_t offset)
{
	return (uint16_t)(pci_read32(page, offset & ~3U) >> offset % 4 * 8);
}

uint8_t pci_read8(uint64_t page, uint32_t offset)
{
	uint64_t at;
	struct slot *s = is_config(page) ? NULL : at_bar(page + offset, 4, &at);

	if (s && at == 0x100 + COMMON_STATUS)
		return (uint8_t)s->status;
	return (uint8_t)(pci_read32(page, offset & ~3U) >> offset % 4 * 8);
}

void pci_write32(uint64_t page, uint32_t offset, uint32_t value)
{
	struct slot *s = slot_of(page);
	uint64_t at;

	machine_sees();
	if (is_config(page)) {
		if (!answers(s))
			return;
		s->words[offset / 4] = (s->words[offset / 4] & ~s->writable[offset / 4]) |
		                       (value & s->writable[offset / 4]);
		return;
	}
	s = at_bar(page + offset, 4, &at);
	if (s && at == 0x100)
		s->select = value;
}

void pci_write16(uint64_t page, uint32_t offset, uint16_t value)
{
	uint32_t shift = offset % 4 * 8, at = offset & ~3U;
	struct slot *s = slot_of(page);

	if (!answers(s))
		return;
	if ((offset == EXPRESS + 8 && value & 0x8000) || (offset == AF + 4 && value & 1))
		reset(s);
	else
		pci_write32(page, at,
		            (s->words[at / 4] & ~(0xffffU << shift)) | (uint32_t)value << shift);
}

void pci_write8(uint64_t page, uint32_t offset, uint8_t value)
{
	uint64_t at;
	struct slot *s = is_config(page) ? NULL : at_bar(page + offset, 4, &at);

	machine_sees();
	if (s && at == 0x100 + COMMON_STATUS && !value)
		reset(s);
}
