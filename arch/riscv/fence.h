/* SPDX-License-Identifier: Apache-2.0 */
/* Fences of the H extension, which GCC 12's assembler takes only when told so. */
#ifndef ARCH_FENCE_H
#define ARCH_FENCE_H

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

#endif
