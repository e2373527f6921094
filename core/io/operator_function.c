/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/operator_function.h"

#include "arch/riscv/devices/imsic.h"
#include "arch/riscv/devices/pci.h"
#include "arch/riscv/hart/fence.h"
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
	struct operator_memory *memory;
	uint32_t slot;
	/* The lock of the VM's devices protects these, which are reset for each life. */
	bool alive;
	uint32_t state, mask;
	struct vpci_header header;
};

static struct function functions_of[VM_MAX_VMS];

static struct function *of(const struct vm *vm)
{
	return &functions_of[vm->index];
}

void operator_function_make(struct vm *vm, struct operator_memory *memory)
{
	of(vm)->memory = memory;
	of(vm)->slot = pci_node_operator_slot(vm->config);
}

struct operator_memory *operator_function_memory(const struct vm *vm)
{
	return of(vm)->memory;
}

static void update(struct vm *vm, const struct function *f)
{
	vm_set_level(vm, vm->config->operator.source,
	             f->state & f->mask && !(f->header.command & PCI_COMMAND_INTX_DISABLE));
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
		update(vm, f);
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
	f->header = (struct vpci_header){0};
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
	update(vm, f);
	spin_unlock(&vm->devices);
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
	default:
		return 0;
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

/* --- configuration space ------------------------------------------------------------------- */

static uint32_t read_bar(const struct function *f, uint32_t n)
{
	bool sizing = f->header.sizing >> n & 1;

	switch (n) {
	case 0:
		return (uint32_t)(sizing ? -GUEST_OPERATOR_SIZE : GUEST_OPERATOR_BASE);
	case 2:
		return (uint32_t)(sizing ? -GUEST_OPERATOR_BYTES : GUEST_OPERATOR_MEMORY);
	default:
		return 0;
	}
}

static uint32_t read_word(const struct function *f, uint32_t at)
{
	if (at >= PCI_BAR && at < PCI_BAR + 4 * PCI_BARS)
		return read_bar(f, (at - PCI_BAR) / 4);
	switch (at) {
	case PCI_ID:
	case PCI_SUBSYSTEM:
		return PCI_ID_VALUE;
	case PCI_COMMAND:
		return f->header.command |
		       (f->state & f->mask ? (uint32_t)PCI_STATUS_INTX << 16 : 0);
	case PCI_CLASS:
		return CLASS;
	case PCI_LINE:
		return INTERRUPT_PIN | f->header.line;
	default:
		return 0;
	}
}

static void access(struct vm *vm, struct function *f, uint32_t at, bool store, uint64_t *value,
                   uint32_t width)
{
	uint32_t shift = at % 4 * 8, ones = width < 4 ? (1U << 8 * width) - 1 : ~0U;

	if (width > 4 || at % width) {
		*value = ~0U;
		return;
	}
	spin_lock(&vm->devices);
	if (!store)
		*value = read_word(f, at & ~3U) >> shift & ones;
	else if (vpci_write_header(&f->header, at / 4, (uint32_t)*value << shift, ones << shift))
		update(vm, f);
	spin_unlock(&vm->devices);
}

bool operator_function_config(struct vm *vm, uint64_t offset, bool store, uint64_t *value,
                              uint32_t width)
{
	struct function *f = of(vm);

	if (!operator_is(vm) || (uint64_t)f->slot << 3 != offset / PCI_PAGE)
		return false;
	access(vm, f, (uint32_t)(offset % PCI_PAGE), store, value, width);
	return true;
}
