/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock order, outermost first: vm->devices or the lock of DMA (dma.h), then console, a hart's
 * `gate` (core/io/wired.c), `aiming` (external.c) or a port (ports.c). No lock is held when a guest
 * is entered or when vpmu/ is called. All other state belongs to one hart (see core/vcpu/vcpu.h).
 *
 * The console's lock also protects the host's UART. Acquire and release in C order only memory, so
 * the fences are explicit and include devices (docs/memory-order.md, "Lock").
 */
#ifndef ARCH_RISCV_HART_SPINLOCK_H
#define ARCH_RISCV_HART_SPINLOCK_H

#include <stdatomic.h>

#include "arch/riscv/hart/fence.h"

struct spinlock {
	atomic_uint next, serving;
};

static inline void spin_lock(struct spinlock *lock)
{
	unsigned int mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);

	while (atomic_load_explicit(&lock->serving, memory_order_relaxed) != mine) /* WAITS */
		;
	fence_acquire_all();
}

static inline void spin_unlock(struct spinlock *lock)
{
	fence_release_all();
	atomic_store_explicit(&lock->serving,
	                      atomic_load_explicit(&lock->serving, memory_order_relaxed) + 1,
	                      memory_order_relaxed);
}

#endif
