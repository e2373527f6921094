/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses of PCI functions through the IOMMU, also of those that ignore that they must not master
 * the bus. What must hold: an access of a VM's function leads to that VM's memory, or to an
 * interrupt file of its vcpus, or is a fault; to these if the VM runs, nowhere if it is off. Each
 * fault is taken by the home of its VM's first vcpu: it ends a VM that says so, and a storm of them
 * takes the bus from the function until the VM's next life.
 */
#include <string.h>

#include "arch/riscv/devices/iommu_regs.h"
#include "arch/riscv/hart/io.h"
#include "core/io/dma.h"
#include "core/tree/vm_memory.h"
#include "tests/host/fake_iommu.h"
#include "tests/host/machine/model.h"

#define ENGINE(vm) (8 * ((vm) + 1))
#define STORM      80U /* faults at once, of which 64 are enough */
#define QUIET      (MACHINE_TIMEBASE / 20)

/* What a VM's function has done, and in which life of the VM. 0: never. */
static struct engine {
	uint64_t faulted, stormed;
	uint64_t stalled; /* machine.stalled before its storm */
	uint64_t last;    /* when it made a fault */
} engines[VM_MAX_VMS];

static bool has_stopped; /* the IOMMU, once */

bool dma_is_given(const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_devices; i++) {
		if (vm->config->devices[i].pci.given)
			return true;
	}
	return false;
}

/* A fault is served by the hart of the VM that made it, whose time it is. */
static void takes(uint32_t id)
{
	uint32_t i = id / 8 - 1;

	if (machine.booted && i < n_vms && dma_is_given(&vms[i]) &&
	    vms[i].vcpus[0]->home != this_pcpu())
		machine_differs("vm%u's fault is served by hart %u", i, machine.now);
}

void dma_reset(void)
{
	fake_iommu_reset();
	fake_iommu.taking = takes;
	bus_reset();
	fake_iommu.as_qemu = percent(&machine.chance, 50);
	fake_iommu.no_wires = percent(&machine.chance, 20);
	memset(engines, 0, sizeof(engines));
	has_stopped = false;
}

static const struct vm_shared *shared_of(const struct vm *vm, uint32_t i)
{
	const char *tree = (const char *)vms[0].config - offsetof(struct vm_tree, vms);

	return &((const struct vm_tree *)tree)->shared[vm->config->shared[i].number];
}

/* The host's address of a guest's, or 0. */
static uint64_t own(const struct vm *vm, uint64_t address, bool write)
{
	uint64_t file = (address - GUEST_IMSIC_BASE) / GUEST_IMSIC_STEP;
	struct vm_piece piece;

	for (uint32_t i = 0; (piece = vm_piece(vm->config, i)).size; i++) {
		if (address - piece.guest < piece.size)
			return piece.host + (address - piece.guest);
	}
	for (uint32_t i = 0; i < vm->config->n_shared; i++) {
		const struct vm_shared *shared = shared_of(vm, i);
		uint64_t offset = address - vm->config->shared[i].at;

		if (offset < shared->size && (vm->config->shared[i].writes || !write))
			return shared->host_base + offset;
	}
	if (vm->config->aia && write && file < vm->config->n_vcpus)
		return vm->vcpus[file]->guest_file_at.a + address % GUEST_IMSIC_STEP;
	return 0;
}

static uint64_t some_address(const struct vm *vm)
{
	uint64_t offset = chance(&machine.chance) % (vm->config->memory * 2);

	if (vm->config->n_shared && percent(&machine.chance, 20))
		return vm->config->shared[0].at + chance(&machine.chance) % MACHINE_SHARED * 5 / 4;
	if (percent(&machine.chance, 20))
		return GUEST_IMSIC_BASE +
		       below(&machine.chance, VM_MAX_VCPUS + 1) * GUEST_IMSIC_STEP;
	return vm->config->ram_base + offset - vm->config->memory / 2;
}

static void note_faults(const struct vm *vm, uint32_t n)
{
	struct engine *e = &engines[vm->index];
	uint64_t last = e->last;

	e->last = machine.time;
	if (vm->state != VM_RUNNING || !dma_is_given(vm))
		return;
	e->faulted = vm->htimedelta;
	/* With one that was there before, a window of Tally's may end in the middle. */
	if (n < STORM || machine.time - last < QUIET)
		return;
	e->stormed = vm->htimedelta;
	e->stalled = machine.stalled;
}

static void storms(const struct vm *vm)
{
	uint32_t before = fake_iommu_faults();
	uint64_t to;

	for (uint32_t i = 0; i < STORM; i++)
		(void)fake_iommu_access(ENGINE(vm->index), model_ram_end(vm) + 8 * i, true, &to);
	if (fake_iommu_faults() != before)
		note_faults(vm, before ? 1 : fake_iommu_faults());
}

static void accesses(const struct vm *vm)
{
	uint64_t address = some_address(vm), to = 0;
	bool write = percent(&machine.chance, 50), given = dma_is_given(vm);
	uint64_t mine = own(vm, address, write);
	uint32_t before = fake_iommu_faults(), cause;

	cause = fake_iommu_access(ENGINE(vm->index), address, write, &to);
	if (!cause && (!given || to != mine))
		machine_differs("vm%u's function reaches %lx by %lx", vm->index, to, address);
	if (!cause && vm->state == VM_OFF && !has_stopped)
		machine_differs("vm%u is off, and its function reaches memory", vm->index);
	if (cause && vm->state == VM_RUNNING && given && mine && !has_stopped)
		machine_differs("vm%u's function does not reach %lx: %u", vm->index, address,
		                cause);
	if (!cause && vm->config->aia && to >= MACHINE_IMSIC_BASE && to == mine &&
	    address - GUEST_IMSIC_BASE < GUEST_IMSIC_SIZE)
		aia_message(to, 1 + below(&machine.chance, MACHINE_IDS));
	if (cause && fake_iommu_faults() != before)
		note_faults(vm, 1);
}

void dma_accesses(void)
{
	const struct vm *vm = &vms[below(&machine.chance, n_vms)];

	if (dma_refusal() || !machine.booted)
		return;
	if (machine.kind.iommu_stops && percent(&machine.chance, 10)) {
		fake_iommu.stops = !fake_iommu.stops;
		has_stopped = true;
	}
	if (!bus_masters(vm->index) && percent(&machine.chance, 60))
		return;
	bus_requests(vm->index);
	if (percent(&machine.chance, 4))
		storms(vm);
	else
		accesses(vm);
}

bool dma_wire(uint32_t wire)
{
	return machine.kind.iommu_wires && fake_iommu.interrupts &&
	       ICVEC_FIV_OF(io_read64(FAKE_IOMMU_BASE + IOMMU_ICVEC)) == wire;
}

/* While all harts sleep. */
static void look_at_faults(const struct vm *vm)
{
	const struct engine *e = &engines[vm->index];

	if (vm->state != VM_RUNNING || fake_iommu_faults())
		return;
	if (e->faulted == vm->htimedelta && vm->config->bad_access_stops && !has_stopped)
		machine_differs("vm%u goes on after an access of its function", vm->index);
	/* If time was lost meanwhile, the faults may have been served too slowly. */
	if (e->stormed == vm->htimedelta && bus_masters(vm->index) && e->stalled == machine.stalled)
		machine_differs("vm%u's function masters the bus after many faults", vm->index);
}

void dma_look_at(bool asleep)
{
	bool looks = false, given = false;

	for (uint32_t i = 0; i < n_vms; i++) {
		const struct vm *vm = &vms[i];

		if ((vm->state == VM_OFF || vm->state == VM_LOADING) && dma_is_given(vm) &&
		    bus_masters(i))
			machine_differs("vm%u is off, and its function masters the bus", i);
		if (vm->state == VM_RUNNING && dma_is_given(vm) && bus_is_gone(i))
			machine_differs("vm%u runs, and its function was not reset", i);
		given |= dma_is_given(vm);
		if (asleep)
			look_at_faults(vm);
	}
	for (uint32_t i = 0; i < n_pcpus; i++)
		looks |= hart_stacks[i].pcpu.next_poll != ~0UL;
	if (asleep && given && fake_iommu_faults() && !looks)
		machine_differs("nobody looks at %u faults", fake_iommu_faults());
}
