/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bells: VMs that share memory ring each other (docs/shared.md). A bell is a page of registers in
 * its VM, which traps, and an interrupt of its VM. The VM that rings pays for the work until the
 * other VM's hart is notified; the other VM pays for the interrupt.
 */
#ifndef CORE_IO_BELLS_H
#define CORE_IO_BELLS_H

#include "core/host/vm_config.h"
#include "core/io/notifier.h"

/* Registers in its page, of 32 bits. */
#define BELL_RING      0x00U
#define BELL_STATE     NOTIFIER_STATE
#define BELL_MASK      NOTIFIER_MASK
#define BELL_ALIVE     0x0cU
#define BELL_SELF      0x10U
#define BELL_BELLS     0x14U
#define BELL_SOURCE    0x18U
#define BELL_IDENTITY  0x1cU
#define BELL_HEARTBEAT 0x20U
#define BELL_ACCESS    0x24U
#define BELL_SIZE      0x28U
#define BELL_NAME      0x30U
#define BELL_LIVES     0x40U

/* Bits of BELL_STATE and BELL_MASK. */
#define BELL_RUNG    1U /* another VM has rung */
#define BELL_CHANGED 2U /* a life of another VM has begun or is over */

struct bell {
	struct notifier function;
	/* Constant after boot. */
	const struct vm_shared *shared;
	uint32_t others;            /* bit n: there is another bell with number n */
	uint8_t number[VM_MAX_VMS]; /* their indexes in bells[] */
	/* Read by any hart, written by the lead hart. */
	atomic_uint lives;
} __attribute__((aligned(512))); /* an index in bells[] takes a shift */
_Static_assert(sizeof(struct bell) == 512, "not more");

extern struct bell bells[VM_MAX_BELLS];

/* Makes the bells of all VMs, and their PCI functions; the functions of the host already have their
 * addresses. At boot only. */
void bells_make(const struct vm_tree *tree);

/* Returns the bell of a VM's n-th shared memory, or NULL if that has none. */
struct bell *bell_of(const struct vm *vm, uint64_t n);

/* Accesses to the pages of the VM's bells: a row of core/dispatch/mmio.c. Registers have 32 bits:
 * accesses that are misaligned or of another width read 0 and write nothing. */
uint64_t bells_read(struct vm *vm, uint64_t offset, uint32_t width);
void bells_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

/* A life begins: all registers are as after reset, and the other VMs are notified. */
void bells_begin(struct vm *vm);

/* The interrupt file of vcpu 0 was cleared. Rings since the beginning of the life are sent again.
 * Home hart of vcpu 0 only. */
void bells_started(struct vm *vm);

/* A life is over: rings are dropped from now on, and the other VMs are notified. */
void bells_end(struct vm *vm);

#endif
