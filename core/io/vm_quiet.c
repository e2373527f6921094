/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/vm_quiet.h"

#include "arch/riscv/devices/device_reset.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "core/hart/platform.h"
#include "core/io/bells.h"
#include "core/io/dma.h"
#include "core/io/functions.h"
#include "core/io/operator_function.h"
#include "core/io/ports.h"
#include "core/io/power_key.h"
#include "core/io/wired.h"
#include "core/log.h"

/* Time for a device to come to rest; after it, the device is taken to be broken. */
#define PATIENCE_S 1UL

static void wires_off(struct vm *vm)
{
	spin_lock(&vm->devices);
	wired_end(vm);
	spin_unlock(&vm->devices);
}

void vm_quiet_begin(struct vm *vm)
{
	vm->life.quiet_steps = 0;
	vm->life.waiting = false;
	wires_off(vm);
	functions_stop(vm);
	bells_end(vm);
	operator_function_reset(vm, false);
	power_key_reset(vm, false);
	ports_reset(vm, false);
}

/* Returns whether the device is at rest. */
static bool reset(const struct vm_device *device)
{
	uint64_t base = device->registers;

	/* The VM may have moved to a hart that has not touched these registers yet. */
	sfence_vma_all();
	switch (device->reset) {
	case VM_RESET_GOLDFISH_RTC:
		return device_reset_goldfish_rtc(base);
	case VM_RESET_NS16550:
		return device_reset_ns16550(base, device->reg_shift);
	case VM_RESET_VIRTIO_MMIO:
		return device_reset_virtio_mmio(base);
	case VM_RESET_PCI:
		return function_reset(device);
	case VM_RESET_UNKNOWN:
		break;
	}
	return false;
}

/* Called after a step that was not the last. The wait begins with the first one without an effect:
 * before it the hart may have run other vcpus for long. */
static bool waited_enough(struct vm *vm)
{
	uint64_t now = csr_read(CSR_TIME);

	if (!vm->life.waiting)
		vm->life.since = now;
	vm->life.waiting = true;
	return now - vm->life.since >= platform.timebase * PATIENCE_S;
}

/* Ends the current step if it is done, or has been waited for long enough. Returns whether it is
 * over. */
static bool end_step(struct vm *vm, bool done)
{
	if (!done && !waited_enough(vm))
		return false;
	vm->life.waiting = false;
	vm->life.quiet_steps++;
	return true;
}

static void reset_slice(struct vm *vm)
{
	const struct vm_device *device = &vm->config->devices[vm->life.quiet_steps];
	bool is_reset = reset(device), known = device->reset != VM_RESET_UNKNOWN;

	if (!end_step(vm, is_reset || !known))
		return;
	if (!is_reset && (!vm->life.busy_device || vm->life.busy_device->reset == VM_RESET_UNKNOWN))
		vm->life.busy_device = device;
}

static void drain_slice(struct vm *vm)
{
	bool drained;

	spin_lock(&vm->devices);
	drained = wired_drain(vm);
	spin_unlock(&vm->devices);
	if (!end_step(vm, drained) || drained)
		return;
	log_line("vm %s: an interrupt of its devices does not end", vm->config->name);
	vm->life.never_quiet = true;
	wires_off(vm);
}

static void iommu_is_silent(struct vm *vm)
{
	if (!vm->life.never_quiet)
		log_line("vm %s: the IOMMU does not answer", vm->config->name);
	vm->life.never_quiet = true;
}

/* The devices are at rest, so the IOMMU has nothing left to translate. */
static void detach_slice(struct vm *vm)
{
	bool detached = dma_end(vm);

	if (end_step(vm, detached) && !detached)
		iommu_is_silent(vm);
}

bool vm_attach_slice(struct vm *vm)
{
	/* If the life does not begin after all, its functions must be detached. */
	vm->life.quiet_steps = vm->config->n_devices;
	if (dma_attach(vm)) {
		vm->life.waiting = false;
		return true;
	}
	if (waited_enough(vm))
		iommu_is_silent(vm);
	return false;
}

/* Apart from vm_quiet_slice(), which each slice that clears calls and which then saves no
 * registers. */
static __attribute__((noinline)) void step(struct vm *vm)
{
	if (vm->life.quiet_steps < vm->config->n_devices)
		reset_slice(vm);
	else if (vm->life.quiet_steps == vm->config->n_devices)
		detach_slice(vm);
	else
		drain_slice(vm);
}

bool vm_quiet_slice(struct vm *vm)
{
	if (vm->life.quiet_steps == vm->config->n_devices + 2)
		return false;
	step(vm);
	return true;
}

bool vm_is_quiet(const struct vm *vm)
{
	const struct vm_device *device = vm->life.busy_device;

	if (vm->life.never_quiet) {
		log_line("vm %s: stays off", vm->config->name);
		return false;
	}
	if (!device)
		return true;
	/* A device without a known reset needs none: its VM has one life. */
	if (!vm->life.number && device->reset == VM_RESET_UNKNOWN)
		return true;
	if (device->reset == VM_RESET_UNKNOWN)
		log_line("vm %s: stays off: Tally knows no reset of its device %s",
		         vm->config->name, device->name);
	else
		log_line("vm %s: stays off: its device %s does not come to rest", vm->config->name,
		         device->name);
	return false;
}
