/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/bells.h"

#include <string.h>

#include "core/tree/pci_node.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

#define BELL_PCI_ID 0x10f01af4U /* of QEMU's range for experiments (docs/shared.md) */

struct bell bells[VM_MAX_BELLS];
static uint32_t n_bells;

struct bell *bell_of(const struct vm *vm, uint64_t n)
{
	return n < VM_MAX_SHARED && vm->bell_of[n] ? &bells[vm->bell_of[n] - 1] : NULL;
}

static void make(struct vm *vm, const struct vm_shared *shared, uint32_t n)
{
	struct bell *bell = &bells[n_bells];
	uint32_t *words = bell->function.words;
	struct vpci_function *f = &bell->function.pci;

	bell->shared = shared;
	bell->function.vm = vm;
	bell->function.source = words[BELL_SOURCE / 4] = vm->config->shared[n].bell;
	bell->function.identity = words[BELL_IDENTITY / 4] = vm->config->shared[n].identity;
	words[BELL_ACCESS / 4] = vm->config->shared[n].writes;
	memcpy(&words[BELL_SIZE / 4], &shared->size, sizeof(shared->size));
	_Static_assert(sizeof(shared->name) == NOTIFIER_BYTES - BELL_NAME, "the last registers");
	memcpy(&words[BELL_NAME / 4], shared->name, sizeof(shared->name));
	vm->bell_of[n] = (uint8_t)++n_bells;
	notifier_make(&bell->function, BELL_PCI_ID, pci_node_slot(vm->config, n));
	vpci_set_bar(f, 0, GUEST_BELL_STEP, GUEST_BELL_BASE + n * GUEST_BELL_STEP, 0);
	vpci_set_bar(f, 2, shared->size, vm->config->shared[n].at, PCI_BAR_WIDE);
}

/* Bells of one memory are numbered in the order of the VMs. */
static void join(struct bell *bell)
{
	uint32_t *words = bell->function.words, number = 0;

	for (uint32_t i = 0; i < n_bells; i++) {
		if (bells[i].shared != bell->shared)
			continue;
		if (&bells[i] == bell)
			words[BELL_SELF / 4] = number;
		bell->number[number++] = (uint8_t)i;
	}
	words[BELL_BELLS / 4] = (1U << number) - 1;
	bell->others = words[BELL_BELLS / 4] & ~(1U << words[BELL_SELF / 4]);
}

__attribute__((cold)) void bells_make(const struct vm_tree *tree)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		const struct vm_config *config = vms[i].config;

		for (uint32_t n = 0; n < config->n_shared; n++) {
			if (config->shared[n].bell)
				make(&vms[i], &tree->shared[config->shared[n].number], n);
		}
	}
	for (uint32_t i = 0; i < n_bells; i++)
		join(&bells[i]);
}

/* Tells the other bells of the memory whose numbers are in `who`. */
static inline void tell_all(const struct bell *bell, uint32_t who, uint32_t what)
{
	const uint8_t *number = bell->number;

	for (who &= bell->others; who; who >>= 1, number++) {
		if (who & 1)
			notifier_tell(&bells[*number].function, what);
	}
}

void bells_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	struct bell *bell = &bells[vm->bell_of[offset / GUEST_BELL_STEP] - 1];
	uint32_t reg = (uint32_t)(offset % GUEST_BELL_STEP);

	if (width != 4)
		return;
	if (reg == BELL_RING)
		tell_all(bell, (uint32_t)value, BELL_RUNG);
	else if (reg == BELL_STATE || reg == BELL_MASK)
		notifier_write(&bell->function, reg, (uint32_t)value, BELL_RUNG | BELL_CHANGED);
	else if (reg == BELL_HEARTBEAT)
		heart_ring(vm);
}

static uint32_t alive(const struct bell *bell)
{
	uint32_t number, bits = 0;

	for_each_bit (number, bell->function.words[BELL_BELLS / 4])
		bits |= atomic_load(&bells[bell->number[number]].function.alive) << number;
	return bits;
}

static uint32_t lives(const struct bell *bell, uint32_t number)
{
	return number < VM_MAX_VMS && bell->function.words[BELL_BELLS / 4] >> number & 1
	           ? atomic_load(&bells[bell->number[number]].lives)
	           : 0;
}

uint64_t bells_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	const struct bell *bell = &bells[vm->bell_of[offset / GUEST_BELL_STEP] - 1];
	uint32_t reg = (uint32_t)(offset % GUEST_BELL_STEP), value;

	if (width != 4 || offset % 4)
		return 0;
	spin_lock(&vm->devices);
	if (reg >= BELL_LIVES)
		value = lives(bell, (reg - BELL_LIVES) / 4);
	else
		value = reg == BELL_ALIVE ? alive(bell) : bell->function.words[reg / 4];
	spin_unlock(&vm->devices);
	return value;
}

/* Iterates over the VM's bells. */
#define for_each_bell(bell, vm)                                                                    \
	for (uint32_t n_ = 0; n_ < (vm)->config->n_shared; n_++)                                   \
		if (((bell) = bell_of(vm, n_)))

static __attribute__((noinline, cold)) void tell_changed(const struct bell *bell)
{
	tell_all(bell, ~0U, BELL_CHANGED);
}

__attribute__((cold)) void bells_begin(struct vm *vm)
{
	struct bell *bell;

	for_each_bell(bell, vm)
	{
		spin_lock(&vm->devices);
		notifier_reset(&bell->function, BELL_RUNG);
		atomic_fetch_add(&bell->lives, 1);
		atomic_store(&bell->function.alive, 1);
		spin_unlock(&vm->devices);
		tell_changed(bell);
	}
}

__attribute__((cold)) void bells_started(struct vm *vm)
{
	struct bell *bell;

	for_each_bell(bell, vm)
	{
		spin_lock(&vm->devices);
		if (bell->function.identity && bell->function.state & bell->function.mask)
			notifier_send(&bell->function);
		spin_unlock(&vm->devices);
	}
}

__attribute__((cold)) void bells_end(struct vm *vm)
{
	struct bell *bell;

	for_each_bell(bell, vm)
	{
		unsigned int was;

		spin_lock(&vm->devices);
		was = atomic_exchange(&bell->function.alive, 0);
		spin_unlock(&vm->devices);
		if (was)
			tell_changed(bell);
	}
}
