/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/bells.h"

#include <string.h>

#include "arch/riscv/devices/pci.h"
#include "arch/riscv/hart/fence.h"
#include "core/hart/pcpu.h"
#include "core/io/vm_interrupts.h"
#include "core/io/vpci.h"
#include "core/tree/pci_node.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

#define BELL_ALL (BELL_RUNG | BELL_CHANGED)

/* From QEMU's range for experiments (docs/shared.md). */
#define BELL_PCI_ID   0x10f01af4U
#define CLASS         0x05800001U /* another memory controller; revision 1 */
#define INTERRUPT_PIN (1U << 8)   /* INTA */

struct bell bells[VM_MAX_BELLS];
static uint32_t n_bells;

struct bell *bell_of(const struct vm *vm, uint64_t n)
{
	return n < VM_MAX_SHARED && vm->bell_of[n] ? &bells[vm->bell_of[n] - 1] : NULL;
}

/* Updates the level of its interrupt. The caller holds the lock of the VM's devices. */
static void update(struct bell *bell)
{
	vm_set_level(bell->vm, bell->source,
	             bell->state & bell->mask &&
	                 !(bell->pci.header.command & PCI_COMMAND_INTX_DISABLE));
}

static struct bell *bell_of_function(const struct vpci_function *f)
{
	return &bells[((uintptr_t)f - (uintptr_t)bells) / sizeof(struct bell)];
}

static uint32_t read_function(const struct vpci_function *f, uint32_t word)
{
	const struct bell *bell = bell_of_function(f);

	return word == PCI_COMMAND / 4 && bell->state & bell->mask ? (uint32_t)PCI_STATUS_INTX << 16
	                                                           : 0;
}

static void write_function(struct vpci_function *f, uint32_t word, uint32_t value, uint32_t mask)
{
	(void)value;
	(void)mask;
	if (word == PCI_COMMAND / 4)
		update(bell_of_function(f));
}

static void make_function(struct bell *bell)
{
	static const struct vpci_kind kind = {read_function, write_function};
	const struct vm_config *vm = bell->vm->config;
	const struct pci_bar bars[PCI_BARS] = {
	    [0] = {.size = GUEST_BELL_STEP, .value = GUEST_BELL_BASE + bell->n * GUEST_BELL_STEP},
	    [2] = {.size = bell->shared->size,
	           .value = vm->shared[bell->n].at,
	           .flags = PCI_BAR_WIDE},
	};
	struct vpci_function *f = &bell->pci;

	f->kind = &kind;
	f->devfn = (uint8_t)(pci_node_slot(vm, bell->n) << 3);
	f->words[PCI_ID / 4] = f->words[PCI_SUBSYSTEM / 4] = BELL_PCI_ID;
	f->words[PCI_CLASS / 4] = CLASS;
	f->words[PCI_LINE / 4] = INTERRUPT_PIN;
	vpci_set_bars(f, bars);
	bell->vm->pci.functions[bell->vm->pci.n++] = f;
}

static void make(struct vm *vm, const struct vm_shared *shared, uint32_t n)
{
	struct bell *bell = &bells[n_bells];

	*bell = (struct bell){
	    .vm = vm,
	    .shared = shared,
	    .n = n,
	    .source = vm->config->shared[n].bell,
	    .identity = vm->config->shared[n].identity,
	};
	vm->bell_of[n] = (uint8_t)++n_bells;
	make_function(bell);
}

/* Bells of one memory are numbered in the order of the VMs. */
static void join(struct bell *bell)
{
	uint32_t number = 0;

	for (uint32_t i = 0; i < n_bells; i++) {
		if (bells[i].shared != bell->shared)
			continue;
		if (&bells[i] == bell)
			bell->self = number;
		bell->number[number++] = (uint8_t)i;
	}
	bell->all = (1U << number) - 1;
	bell->others = bell->all & ~(1U << bell->self);
}

void bells_make(const struct vm_tree *tree)
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

/* Fences once on each hart: the file's page came into the map of HS after the hart had begun to use
 * the map. */
static void send(const struct bell *bell)
{
	static bool sees[MAX_HARTS];
	bool *saw = &sees[this_pcpu()->index];

	if (!*saw)
		sfence_vma_all();
	*saw = true;
	imsic_send(bell->vm->vcpus[0]->guest_file_at, bell->identity);
}

/* Sets bits of a bell's state, and interrupts its VM. Does nothing between two lives. */
static inline void tell(struct bell *bell, uint32_t what)
{
	struct spinlock *lock = &bell->vm->devices;

	spin_lock(lock);
	if (atomic_load_explicit(&bell->alive, memory_order_relaxed)) {
		uint32_t before = bell->state & bell->mask;

		bell->state |= what;
		if (bell->identity && what & bell->mask)
			send(bell);
		if (!before && what & bell->mask &&
		    !(bell->pci.header.command & PCI_COMMAND_INTX_DISABLE))
			vm_raise(bell->vm, bell->source);
	}
	spin_unlock(lock);
}

/* Does the same for the other bells of the memory whose numbers are in `who`. */
static inline void tell_all(const struct bell *bell, uint32_t who, uint32_t what)
{
	const uint8_t *number = bell->number;

	for (who &= bell->others; who; who >>= 1, number++) {
		if (who & 1)
			tell(&bells[*number], what);
	}
}

/* Not inlined, because bells_write() would save more registers. */
static __attribute__((noinline)) void write_own(struct bell *bell, uint32_t reg, uint32_t value)
{
	spin_lock(&bell->vm->devices);
	if (reg == BELL_STATE)
		bell->state &= ~value;
	else if (reg == BELL_MASK)
		bell->mask = value & BELL_ALL;
	update(bell);
	spin_unlock(&bell->vm->devices);
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
		write_own(bell, reg, (uint32_t)value);
	else if (reg == BELL_HEARTBEAT)
		heart_ring(vm);
}

static uint32_t alive(const struct bell *bell)
{
	uint32_t number, bits = 0;

	for_each_bit (number, bell->all)
		bits |= atomic_load(&bells[bell->number[number]].alive) << number;
	return bits;
}

static uint32_t name_word(const struct bell *bell, uint32_t offset)
{
	uint32_t word;

	_Static_assert(sizeof(bell->shared->name) == BELL_LIVES - BELL_NAME, "its registers");
	memcpy(&word, &bell->shared->name[offset], sizeof(word));
	return word;
}

static uint32_t read_register(struct bell *bell, uint32_t reg)
{
	uint32_t number = (reg - BELL_LIVES) / 4;

	if (reg >= BELL_NAME && reg < BELL_LIVES)
		return name_word(bell, reg - BELL_NAME);
	if (number < VM_MAX_VMS && reg >= BELL_LIVES)
		return bell->all >> number & 1 ? atomic_load(&bells[bell->number[number]].lives)
		                               : 0;
	switch (reg) {
	case BELL_STATE:
		return bell->state;
	case BELL_MASK:
		return bell->mask;
	case BELL_ALIVE:
		return alive(bell);
	case BELL_SELF:
		return bell->self;
	case BELL_BELLS:
		return bell->all;
	case BELL_SOURCE:
		return bell->source;
	case BELL_IDENTITY:
		return bell->identity;
	case BELL_ACCESS:
		return bell->vm->config->shared[bell->n].writes;
	case BELL_SIZE:
		return (uint32_t)bell->shared->size;
	case BELL_SIZE + 4:
		return (uint32_t)(bell->shared->size >> 32);
	default:
		return 0;
	}
}

uint64_t bells_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	struct bell *bell = &bells[vm->bell_of[offset / GUEST_BELL_STEP] - 1];
	uint32_t value;

	if (width != 4 || offset % 4)
		return 0;
	spin_lock(&vm->devices);
	value = read_register(bell, (uint32_t)(offset % GUEST_BELL_STEP));
	spin_unlock(&vm->devices);
	return value;
}

/* Iterates over the VM's bells. */
#define for_each_bell(bell, vm)                                                                    \
	for (uint32_t n_ = 0; n_ < (vm)->config->n_shared; n_++)                                   \
		if (((bell) = bell_of(vm, n_)))

void bells_begin(struct vm *vm)
{
	struct bell *bell;

	for_each_bell(bell, vm)
	{
		spin_lock(&vm->devices);
		bell->state = 0;
		bell->mask = BELL_RUNG;
		bell->pci.header = (struct vpci_header){0};
		atomic_fetch_add(&bell->lives, 1);
		atomic_store(&bell->alive, 1);
		spin_unlock(&vm->devices);
		tell_all(bell, ~0U, BELL_CHANGED);
	}
}

void bells_started(struct vm *vm)
{
	struct bell *bell;

	for_each_bell(bell, vm)
	{
		spin_lock(&vm->devices);
		if (bell->identity && bell->state & bell->mask)
			send(bell);
		spin_unlock(&vm->devices);
	}
}

void bells_end(struct vm *vm)
{
	struct bell *bell;

	for_each_bell(bell, vm)
	{
		unsigned int was;

		spin_lock(&vm->devices);
		was = atomic_exchange(&bell->alive, 0);
		spin_unlock(&vm->devices);
		if (was)
			tell_all(bell, ~0U, BELL_CHANGED);
	}
}
