/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/notifier.h"

#include "arch/riscv/devices/imsic.h"
#include "arch/riscv/hart/fence.h"
#include "core/vcpu/vm.h"

void notifier_update(struct notifier *n)
{
	vm_set_level(n->vm, n->source,
	             n->state & n->mask && !(n->pci.header.command & PCI_COMMAND_INTX_DISABLE));
}

/* Fences once on each hart: pages of files came into the map of HS after the hart had begun to use
 * the map. */
void notifier_message(const struct notifier *n, uint32_t vcpu, uint32_t identity)
{
	static bool sees[MAX_HARTS];
	bool *saw = &sees[this_pcpu()->index];

	if (!*saw)
		sfence_vma_all();
	*saw = true;
	imsic_send(n->vm->vcpus[vcpu]->guest_file_at, identity);
}

void notifier_send(const struct notifier *n)
{
	notifier_message(n, 0, n->identity);
}

/* Not inlined, because bells_write() would save more registers. */
__attribute__((noinline)) void notifier_write(struct notifier *n, uint64_t offset, uint32_t value,
                                              uint32_t bits)
{
	spin_lock(&n->vm->devices);
	if (offset == NOTIFIER_STATE)
		n->state &= ~value;
	else if (offset == NOTIFIER_MASK)
		n->mask = value & bits;
	notifier_update(n);
	spin_unlock(&n->vm->devices);
}
