/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/operator_function.h"

#include "core/hart/pcpu.h"
#include "core/io/port.h"
#include "core/tree/pci_node.h"

#define OPERATOR_PCI_ID 0x10f11af4U /* of QEMU's range for experiments (docs/shared.md) */

struct operator_function {
	struct notifier function;
	struct operator_memory *memory;
};

static struct operator_function *operators[VM_MAX_VMS]; /* NULL: the VM is no operator */

static struct notifier *of(const struct vm *vm)
{
	return &operators[vm->index]->function;
}

struct operator_memory *operator_function_memory(const struct vm *vm)
{
	return operators[vm->index]->memory;
}

void operator_function_make(struct vm *vm, struct operator_memory *memory,
                            void *(*alloc)(size_t size))
{
	const struct vm_operator *config = &vm->config->operator;
	struct operator_function *o = operators[vm->index] = alloc(sizeof(*o));
	uint32_t *words = o->function.words;

	o->memory = memory;
	o->function.vm = vm;
	o->function.source = words[OPERATOR_SOURCE / 4] = config->source;
	o->function.identity = words[OPERATOR_IDENTITY / 4] = config->identity;
	words[OPERATOR_VERSION / 4] = OPERATOR_LAYOUT;
	words[OPERATOR_ACCESS / 4] = config->access;
	words[OPERATOR_REQUESTS_HZ / 4] = config->requests_hz;
	words[OPERATOR_RINGS / 4] = config->samples_hz ? n_pcpus : 0;
	words[OPERATOR_SAMPLES_HZ / 4] = config->samples_hz;
	notifier_make(&o->function, OPERATOR_PCI_ID,
	              pci_node_slot(vm->config, vm->config->n_shared));
	vpci_set_bar(&o->function.pci, 0, GUEST_OPERATOR_SIZE, GUEST_OPERATOR_BASE, 0);
	vpci_set_bar(&o->function.pci, 2, GUEST_OPERATOR_BYTES, GUEST_OPERATOR_MEMORY, 0);
}

void operator_function_tell(struct vm *vm)
{
	notifier_tell(of(vm), OPERATOR_ANSWERED);
}

void operator_function_reset(struct vm *vm, bool alive)
{
	if (!operator_is(vm))
		return;
	spin_lock(&vm->devices);
	of(vm)->alive = alive;
	notifier_reset(of(vm), OPERATOR_ANSWERED);
	spin_unlock(&vm->devices);
}

void operator_function_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	if (width != 4)
		return;
	if (offset == OPERATOR_DOORBELL)
		operator_rung();
	else
		notifier_write(of(vm), offset, (uint32_t)value, OPERATOR_ANSWERED);
}

/* Returns the id of the hart whose samples a ring has. */
static uint32_t hart_of_ring(const struct vm *vm, uint64_t n)
{
	return vm->config->operator.samples_hz && n<n_pcpus ? (uint32_t)hart_stacks[n].pcpu.hartid
	                                                    : 0;
}

uint64_t operator_function_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	uint32_t value = 0;

	if (width != 4 || offset % 4)
		return 0;
	spin_lock(&vm->devices);
	/* To be added to the guest's time. */
	if (offset == OPERATOR_TIME)
		value = (uint32_t)-vm->htimedelta;
	else if (offset == OPERATOR_TIME + 4)
		value = (uint32_t)(-vm->htimedelta >> 32);
	else if (offset < NOTIFIER_BYTES)
		value = of(vm)->words[offset / 4];
	else if (offset >= OPERATOR_HART)
		value = hart_of_ring(vm, (offset - OPERATOR_HART) / 4);
	spin_unlock(&vm->devices);
	return value;
}
