/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/operator_function.h"

#include "arch/riscv/devices/imsic.h"
#include "arch/riscv/devices/pci.h"
#include "arch/riscv/hart/fence.h"
#include "core/hart/pcpu.h"
#include "core/io/port.h"
#include "core/io/vm_interrupts.h"
#include "core/io/vpci.h"
#include "core/tree/pci_node.h"

/* From QEMU's range for experiments (docs/shared.md). */
#define PCI_ID_VALUE  0x10f11af4U
#define CLASS         0x05800001U /* another memory controller; revision 1 */
#define INTERRUPT_PIN (1U << 8)   /* INTA */

struct function {
	/* Constant after boot. */
	struct vm *vm;
	struct operator_memory *memory;
	/* The lock of the VM's devices protects these, which are reset for each life. */
	bool alive;
	uint32_t state, mask;
	struct vpci_function pci;
};

static struct function *functions_of[VM_MAX_VMS]; /* NULL: the VM is no operator */

static struct function *of(const struct vm *vm)
{
	return functions_of[vm->index];
}

struct operator_memory *operator_function_memory(const struct vm *vm)
{
	return of(vm)->memory;
}

/* Updates the level of its interrupt. The caller holds the lock of the VM's devices. */
static void update(const struct function *f)
{
	vm_set_level(f->vm, f->vm->config->operator.source,
	             f->state & f->mask && !(f->pci.header.command & PCI_COMMAND_INTX_DISABLE));
}

static struct function *of_pci(const struct vpci_function *pci)
{
	return (struct function *)((uintptr_t)pci - offsetof(struct function, pci));
}

static uint32_t read_operator(const struct vpci_function *pci, uint32_t word)
{
	const struct function *f = of_pci(pci);

	return word == PCI_COMMAND / 4 && f->state & f->mask ? (uint32_t)PCI_STATUS_INTX << 16 : 0;
}

static void write_operator(struct vpci_function *pci, uint32_t word, uint32_t value, uint32_t mask)
{
	(void)value;
	(void)mask;
	if (word == PCI_COMMAND / 4)
		update(of_pci(pci));
}

void operator_function_make(struct vm *vm, struct operator_memory *memory,
                            void *(*alloc)(size_t size))
{
	static const struct vpci_kind kind = {read_operator, write_operator};
	const struct pci_bar bars[PCI_BARS] = {
	    [0] = {.size = GUEST_OPERATOR_SIZE, .value = GUEST_OPERATOR_BASE},
	    [2] = {.size = GUEST_OPERATOR_BYTES, .value = GUEST_OPERATOR_MEMORY},
	};
	struct function *f = functions_of[vm->index] = alloc(sizeof(*f));
	struct vpci_function *pci = &f->pci;

	f->vm = vm;
	f->memory = memory;
	pci->kind = &kind;
	pci->devfn = (uint8_t)(pci_node_slot(vm->config, vm->config->n_shared) << 3);
	pci->words[PCI_ID / 4] = pci->words[PCI_SUBSYSTEM / 4] = PCI_ID_VALUE;
	pci->words[PCI_CLASS / 4] = CLASS;
	pci->words[PCI_LINE / 4] = INTERRUPT_PIN;
	vpci_set_bars(pci, bars);
	vm->pci.functions[vm->pci.n++] = pci;
}

void operator_function_tell(struct vm *vm)
{
	struct function *f = of(vm);

	spin_lock(&vm->devices);
	if (f->alive) {
		f->state |= OPERATOR_ANSWERED;
		if (vm->config->operator.identity && f->mask & OPERATOR_ANSWERED) {
			/* The file's page came into the map of HS after the hart had begun to use
			 * the map. */
			sfence_vma_all();
			imsic_send(vm->vcpus[0]->guest_file_at, vm->config->operator.identity);
		}
		update(f);
	}
	spin_unlock(&vm->devices);
}

static void set(struct vm *vm, bool alive)
{
	struct function *f = of(vm);

	if (!operator_is(vm))
		return;
	spin_lock(&vm->devices);
	f->alive = alive;
	f->state = 0;
	f->mask = OPERATOR_ANSWERED;
	f->pci.header = (struct vpci_header){0};
	spin_unlock(&vm->devices);
}

void operator_function_begin(struct vm *vm)
{
	set(vm, true);
}

void operator_function_end(struct vm *vm)
{
	set(vm, false);
}

void operator_function_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	struct function *f = of(vm);

	if (width != 4)
		return;
	if (offset == OPERATOR_DOORBELL) {
		operator_rung(vm);
		return;
	}
	spin_lock(&vm->devices);
	if (offset == OPERATOR_STATE)
		f->state &= ~(uint32_t)value;
	else if (offset == OPERATOR_MASK)
		f->mask = (uint32_t)value & OPERATOR_ANSWERED;
	update(f);
	spin_unlock(&vm->devices);
}

static uint32_t hart_of_ring(uint64_t offset)
{
	uint64_t n = (offset - OPERATOR_HART) / 4;

	return offset % 4 == 0 && n < n_pcpus ? (uint32_t)hart_stacks[n].pcpu.hartid : 0;
}

static uint32_t read_register(const struct vm *vm, const struct function *f, uint64_t offset)
{
	const struct vm_operator *o = &vm->config->operator;

	switch (offset) {
	case OPERATOR_STATE:
		return f->state;
	case OPERATOR_MASK:
		return f->mask;
	case OPERATOR_VERSION:
		return OPERATOR_LAYOUT;
	case OPERATOR_ACCESS:
		return o->access;
	case OPERATOR_SOURCE:
		return o->source;
	case OPERATOR_IDENTITY:
		return o->identity;
	case OPERATOR_REQUESTS_HZ:
		return o->requests_hz;
	/* To be added to the guest's time. */
	case OPERATOR_TIME:
		return (uint32_t)-vm->htimedelta;
	case OPERATOR_TIME + 4:
		return (uint32_t)(-vm->htimedelta >> 32);
	case OPERATOR_RINGS:
		return o->samples_hz ? n_pcpus : 0;
	case OPERATOR_SAMPLES_HZ:
		return o->samples_hz;
	default:
		return o->samples_hz ? hart_of_ring(offset) : 0;
	}
}

uint64_t operator_function_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	uint32_t value;

	if (width != 4)
		return 0;
	spin_lock(&vm->devices);
	value = read_register(vm, of(vm), offset);
	spin_unlock(&vm->devices);
	return value;
}
