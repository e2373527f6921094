/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lock order, outermost first: vm->devices, console. Neither is held across an entry to a guest
 * or a call into vpmu/. All other state belongs to one hart (see core/vm/vcpu.h).
 *
 * The console's lock guards the host's UART as well. What C promises of acquire and release is
 * memory's order, so the fences are explicit and name devices, too.
 */
#ifndef CORE_LIB_SPINLOCK_H
#define CORE_LIB_SPINLOCK_H

#include <stdatomic.h>

#include "arch/riscv/fence.h"

struct spinlock {
	atomic_uint next, serving;
};

static inline void spin_lock(struct spinlock *lock)
{
	unsigned int mine = atomic_fetch_add_explicit(&lock->next, 1, memory_order_relaxed);

	while (atomic_load_explicit(&lock->serving, memory_order_relaxed) != mine)
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
