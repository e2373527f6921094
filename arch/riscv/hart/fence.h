/* SPDX-License-Identifier: Apache-2.0 */
/* Fences that C cannot express. GCC 12's assembler needs `.option arch` for those of the H
 * extension. */
#ifndef ARCH_RISCV_HART_FENCE_H
#define ARCH_RISCV_HART_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef TALLY_DEBUG
void hfence_done(bool gstage); /* core/debug/ledger.c: records a fence */
#else
#define hfence_done(gstage) ((void)0)
#endif

/* Fences all G-stage translations of all VMs on this hart. */
static inline void hfence_gvma_all(void)
{
	__asm__ volatile(".option push\n.option arch, +h\nhfence.gvma zero, zero\n.option pop" ::
	                     : "memory");
	hfence_done(true);
}

/* Fences all VS-stage translations of the VMID in hgatp on this hart. */
static inline void hfence_vvma_all(void)
{
	__asm__ volatile(".option push\n.option arch, +h\nhfence.vvma zero, zero\n.option pop" ::
	                     : "memory");
	hfence_done(false);
}

/* Fences all translations of HS itself on this hart, and orders stores to its tables before all
 * later walks. */
static inline void sfence_vma_all(void)
{
	__asm__ volatile("sfence.vma zero, zero" ::: "memory");
}

static inline void fence_i(void)
{
	__asm__ volatile("fence.i" ::: "memory");
}

/*
 * For FENCE, accesses to device registers are input and output, and so are accesses to CSRs: a read
 * is input, a write is output (unprivileged manual, Zicsr, "CSR Access Ordering"). Memory accesses
 * are neither, and aq and rl order only one of the two domains ("Atomic Instructions"). So ordering
 * memory against devices or CSRs needs a fence.
 */

#define FENCE(name, operands)                                                                      \
	static inline void name(void)                                                              \
	{                                                                                          \
		__asm__ volatile("fence " operands ::: "memory");                                  \
	}

/* Orders all earlier stores before the next device or CSR write. After an ECALL this includes
 * stores by the firmware. */
FENCE(fence_memory_then_output, "w, o")

/* Orders earlier device and CSR writes before all later memory accesses. */
FENCE(fence_output_then_memory, "o, rw")

/* Orders all earlier accesses to devices and CSRs before the next device write. */
FENCE(fence_devices_then_output, "io, o")

/* Orders all earlier accesses to devices and CSRs before all later ones: the registers of a PCI
 * function are in several places, and some accesses depend on earlier writes. */
FENCE(fence_devices, "io, io")

/* Orders the read of a device register before reads of memory that the device wrote before it
 * changed that register. */
FENCE(fence_input_then_memory, "i, r")

/* Orders earlier reads of memory before the next device write, after which a device may overwrite
 * that memory. */
FENCE(fence_reads_then_output, "r, o")

/* Acquire and release of a lock that protects memory and devices. */
FENCE(fence_acquire_all, "r, iorw")

FENCE(fence_release_all, "iorw, w")

/*
 * Clears the load reservation of the hart. An SC of one context must not succeed because of an LR
 * of another one, and this hart's own stores in between need not break the reservation. So a
 * context switch executes an SC to a scratch word, which is 0 afterwards or unchanged (unprivileged
 * manual, Zalrsc).
 */
static inline void reservation_end(uint64_t *scratch)
{
	__asm__ volatile("sc.d zero, zero, (%0)" ::"r"(scratch) : "memory");
}

#endif
