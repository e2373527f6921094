/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that C has no word for. The fences of the H extension are known to GCC 12's assembler only
 * when it is told so. */
#ifndef ARCH_FENCE_H
#define ARCH_FENCE_H

#include <stdint.h>

/* All G-stage translations of all VMs, this hart only. */
static inline void hfence_gvma_all(void)
{
	__asm__ volatile(".option push\n.option arch, +h\nhfence.gvma zero, zero\n.option pop" ::
	                     : "memory");
}

/* All VS-stage translations of the VMID in hgatp, this hart only. */
static inline void hfence_vvma_all(void)
{
	__asm__ volatile(".option push\n.option arch, +h\nhfence.vvma zero, zero\n.option pop" ::
	                     : "memory");
}

static inline void fence_i(void)
{
	__asm__ volatile("fence.i" ::: "memory");
}

/*
 * For FENCE a register of a device is input or output, and so is a CSR: its read is input, its
 * write is output (unprivileged manual, Zicsr, "CSR Access Ordering"). Memory is neither, and aq
 * and rl order one of the two domains only ("Atomic Instructions"). So where one has to come before
 * the other it is said here.
 */

/* What was stored before is seen by whoever hears of the device or CSR write that follows; this
 * hart's or, after an ecall, the firmware's. */
static inline void fence_memory_then_output(void)
{
	__asm__ volatile("fence w, o" ::: "memory");
}

/* What is read or stored from here on comes after the device or CSR write. */
static inline void fence_output_then_memory(void)
{
	__asm__ volatile("fence o, rw" ::: "memory");
}

/* The two ends of a lock that guards memory and devices. */
static inline void fence_acquire_all(void)
{
	__asm__ volatile("fence r, iorw" ::: "memory");
}

static inline void fence_release_all(void)
{
	__asm__ volatile("fence iorw, w" ::: "memory");
}

/*
 * Ends the load reservation that the hart may hold: an LR of one context must not be answered by an
 * SC of another, between which plain stores of this hart need not break it. So a context switch
 * does an SC to a scratch word (unprivileged manual, Zalrsc), which holds 0 afterwards or what it
 * held.
 */
static inline void reservation_end(uint64_t *scratch)
{
	__asm__ volatile("sc.d zero, zero, (%0)" ::"r"(scratch) : "memory");
}

#endif
