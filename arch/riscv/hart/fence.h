/* SPDX-License-Identifier: Apache-2.0 */
/* Fences that C cannot express. GCC 12's assembler needs to be told about those of the H
 * extension. */
#ifndef ARCH_RISCV_HART_FENCE_H
#define ARCH_RISCV_HART_FENCE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef TALLY_DEBUG
void hfence_done(bool gstage); /* core/debug/ledger.c: one was executed */
#else
static inline void hfence_done(bool gstage)
{
	(void)gstage;
}
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

/* Fences all translations of HS itself on this hart, and orders stores to its tables before the
 * walks that follow. */
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
 * are neither, and aq and rl order one of the two domains only ("Atomic Instructions"). So an order
 * between memory and devices or CSRs needs a fence.
 */

/* Who sees the device or CSR write that follows also sees everything stored before. After an ECALL
 * this includes writes by the firmware. */
static inline void fence_memory_then_output(void)
{
	__asm__ volatile("fence w, o" ::: "memory");
}

/* Everything read or stored from here on comes after the device or CSR write. */
static inline void fence_output_then_memory(void)
{
	__asm__ volatile("fence o, rw" ::: "memory");
}

/* The device write that follows comes after all earlier accesses to devices and CSRs. */
static inline void fence_devices_then_output(void)
{
	__asm__ volatile("fence io, o" ::: "memory");
}

/* Accesses to devices and CSRs from here on come after all earlier ones: a function of PCI has its
 * registers in several places, and others wait for what is written to them. */
static inline void fence_devices(void)
{
	__asm__ volatile("fence io, io" ::: "memory");
}

/* Memory that a device wrote before it changed a register, which was read. */
static inline void fence_input_then_memory(void)
{
	__asm__ volatile("fence i, r" ::: "memory");
}

/* A device that sees the write that follows may overwrite what was read before. */
static inline void fence_reads_then_output(void)
{
	__asm__ volatile("fence r, o" ::: "memory");
}

/* Both ends of a lock that protects memory and devices. */
static inline void fence_acquire_all(void)
{
	__asm__ volatile("fence r, iorw" ::: "memory");
}

static inline void fence_release_all(void)
{
	__asm__ volatile("fence iorw, w" ::: "memory");
}

/*
 * Clears the load reservation of the hart. An SC of one context must not succeed because of an LR
 * of another one, and stores by this hart in between need not break the reservation. So a context
 * switch does an SC to a scratch word, which is 0 afterwards or unchanged (unprivileged manual,
 * Zalrsc).
 */
static inline void reservation_end(uint64_t *scratch)
{
	__asm__ volatile("sc.d zero, zero, (%0)" ::"r"(scratch) : "memory");
}

#endif
