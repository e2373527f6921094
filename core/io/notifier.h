/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PCI functions that Tally makes to notify a guest: bells, power keys, and the functions of
 * operators. Each has a page of registers, which traps, and an interrupt. The lock of the VM's
 * devices protects what is not constant.
 */
#ifndef CORE_IO_NOTIFIER_H
#define CORE_IO_NOTIFIER_H

#include <stdatomic.h>

#include "core/hart/pcpu.h"
#include "core/io/vm_interrupts.h"
#include "core/io/vpci.h"

/* The offsets of two registers that all have. Their bits say what has happened, and for what of it
 * the interrupt is high. */
#define NOTIFIER_STATE 0x04U
#define NOTIFIER_MASK  0x08U
#define NOTIFIER_BYTES 0x40U /* of registers that are read as they are here */

struct notifier {
	/* Constant after boot. */
	struct vm *vm;
	uint32_t source, identity; /* of its interrupts; identity 0: it sends no messages */
	/* 1: in a life of its VM. Read by any hart, written by the lead hart. */
	atomic_uint alive;
	/* Only `state` and `mask` change after boot; they are reset for each life. */
	union {
		struct {
			uint32_t never_read, state, mask;
		};
		uint32_t words[NOTIFIER_BYTES / 4];
	};
	/* BAR 0 is the registers, BAR 2 the memory, and INTx its interrupt. */
	struct vpci_function pci;
};

/* Adds the function to its VM, with its numbers on the bus. Its VM and interrupts are set. At boot
 * only. */
void notifier_make(struct notifier *n, uint32_t id, uint32_t slot);

/* Accesses to its configuration space (core/io/vpci.h). */
uint32_t notifier_read_function(const struct vpci_function *f, uint32_t word);
void notifier_write_function(struct vpci_function *f, uint32_t word, uint32_t value, uint32_t mask);

/* A life begins, with all registers as after reset. The caller has the lock. */
void notifier_reset(struct notifier *n, uint32_t mask);

/* Updates the level of the interrupt. The caller has the lock. */
void notifier_update(struct notifier *n);

/* Sends the message with its identity. The caller has the lock. */
void notifier_send(const struct notifier *n);

/* Sends a message to the interrupt file of a vcpu of the VM, which has an AIA. The file ignores an
 * identity that it does not have. The caller has the lock. */
void notifier_message(const struct notifier *n, uint32_t vcpu, uint32_t identity);

/* The guest writes STATE, whose bits are cleared by a 1, or MASK, which has these `bits`. */
void notifier_write(struct notifier *n, uint64_t offset, uint32_t value, uint32_t bits);

/* Sets bits of the state, and interrupts the VM. Does nothing between two lives. */
static inline void notifier_tell(struct notifier *n, uint32_t what)
{
	struct spinlock *lock = &n->vm->devices;

	spin_lock(lock);
	if (atomic_load_explicit(&n->alive, memory_order_relaxed)) {
		uint32_t before = n->state & n->mask;

		n->state |= what;
		if (n->identity && what & n->mask)
			notifier_send(n);
		if (!before && what & n->mask &&
		    !(n->pci.header.command & PCI_COMMAND_INTX_DISABLE))
			vm_raise(n->vm, n->source);
	}
	spin_unlock(lock);
}

#endif
