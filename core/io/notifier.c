/* SPDX-License-Identifier: Apache-2.0 */
#include "core/io/notifier.h"

#include "arch/riscv/devices/imsic.h"
#include "arch/riscv/hart/fence.h"
#include "core/vcpu/vm.h"

#define CLASS         0x05800001U /* another memory controller; revision 1 */
#define INTERRUPT_PIN (1U << 8)   /* INTA */

void notifier_update(struct notifier *n)
{
	vm_set_level(n->vm, n->source,
	             n->state & n->mask && !(n->pci.header.command & PCI_COMMAND_INTX_DISABLE));
}

static struct notifier *notifier_of(const struct vpci_function *f)
{
	return (struct notifier *)((uintptr_t)f - offsetof(struct notifier, pci));
}

uint32_t notifier_read_function(const struct vpci_function *f, uint32_t word)
{
	const struct notifier *n = notifier_of(f);

	return word == PCI_COMMAND / 4 && n->state & n->mask ? (uint32_t)PCI_STATUS_INTX << 16 : 0;
}

void notifier_write_function(struct vpci_function *f, uint32_t word, uint32_t value, uint32_t mask)
{
	(void)value;
	(void)mask;
	if (word == PCI_COMMAND / 4)
		notifier_update(notifier_of(f));
}

void notifier_make(struct notifier *n, uint32_t id, uint32_t slot,
                   const struct pci_bar bars[PCI_BARS])
{
	static const struct vpci_kind kind = {notifier_read_function, notifier_write_function};
	struct vpci_function *f = &n->pci;

	f->kind = &kind;
	f->devfn = (uint8_t)(slot << 3);
	f->words[PCI_ID / 4] = f->words[PCI_SUBSYSTEM / 4] = id;
	f->words[PCI_CLASS / 4] = CLASS;
	f->words[PCI_LINE / 4] = INTERRUPT_PIN;
	vpci_set_bars(f, bars);
	n->vm->pci.functions[n->vm->pci.n++] = f;
}

void notifier_reset(struct notifier *n, uint32_t mask)
{
	n->state = 0;
	n->mask = mask;
	n->pci.header = (struct vpci_header){0};
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
