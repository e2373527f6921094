/* SPDX-License-Identifier: Apache-2.0 */
/* The PCI function that a notifier is. */
#include "core/io/notifier.h"
#include "core/vcpu/vm.h"

#define CLASS         0x05800001U /* another memory controller; revision 1 */
#define INTERRUPT_PIN (1U << 8)   /* INTA */

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

/* Not inlined: it has three callers. */
__attribute__((noinline)) void notifier_make(struct notifier *n, uint32_t id, uint32_t slot)
{
	static const struct vpci_kind kind = {notifier_read_function, notifier_write_function};
	struct vpci_function *f = &n->pci;

	f->kind = &kind;
	f->devfn = (uint8_t)(slot << 3);
	f->words[PCI_ID / 4] = f->words[PCI_SUBSYSTEM / 4] = id;
	f->words[PCI_CLASS / 4] = CLASS;
	f->words[PCI_LINE / 4] = INTERRUPT_PIN;
	n->vm->pci.functions[n->vm->pci.n++] = f;
}

void notifier_reset(struct notifier *n, uint32_t mask)
{
	n->state = 0;
	n->mask = mask;
	n->pci.header = (struct vpci_header){0};
}
