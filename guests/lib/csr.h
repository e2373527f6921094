/* SPDX-License-Identifier: Apache-2.0 */
/* Supervisor CSRs that a guest uses, and access to any CSR by number. */
#ifndef GUESTS_LIB_CSR_H
#define GUESTS_LIB_CSR_H

#include <stdint.h>

#define CSR_CYCLE     0xc00
#define CSR_TIME      0xc01
#define CSR_INSTRET   0xc02
#define CSR_SCOUNTOVF 0xda0
#define CSR_STIMECMP  0x14d

#define SSTATUS_SIE           (1UL << 1)
#define IRQ_SOFT              (1UL << 1)
#define IRQ_TIMER             (1UL << 5)
#define IRQ_EXTERNAL          (1UL << 9)
#define IRQ_LCOFI             (1UL << 13)
#define CAUSE_IRQ             (1UL << 63)
#define CAUSE_LCOFI           (CAUSE_IRQ | 13)
#define CAUSE_TIMER           (CAUSE_IRQ | 5)
#define CAUSE_SOFT            (CAUSE_IRQ | 1)
#define CAUSE_FETCH           1UL
#define CAUSE_ILLEGAL         2UL
#define CAUSE_MISALIGNED_LOAD 4UL
#define CAUSE_LOAD            5UL
#define CAUSE_STORE           7UL
#define CAUSE_ECALL_U         8UL

#define XSTR_(x) #x
#define XSTR(x)  XSTR_(x)
#define csr_read(c)                                                                                \
	({                                                                                         \
		uint64_t v_;                                                                       \
		__asm__ volatile("csrr %0, " XSTR(c) : "=r"(v_)::"memory");                        \
		v_;                                                                                \
	})
#define csr_write(c, v) __asm__ volatile("csrw " XSTR(c) ", %0" ::"r"((uint64_t)(v)) : "memory")
#define csr_set(c, v)   __asm__ volatile("csrs " XSTR(c) ", %0" ::"r"((uint64_t)(v)) : "memory")
#define csr_clear(c, v) __asm__ volatile("csrc " XSTR(c) ", %0" ::"r"((uint64_t)(v)) : "memory")

/*
 * Runs one instruction of four bytes from memory, with a0 = arg, and returns a0. For CSR numbers
 * that are known only at run time. The instruction may use a0 only.
 */
uint64_t insn_run(uint32_t insn, uint64_t arg);

#define INSN_CSRR_A0(csr) ((uint32_t)(csr) << 20 | 0x2573U)  /* csrrs a0, csr, zero */
#define INSN_CSRW_A0(csr) ((uint32_t)(csr) << 20 | 0x51073U) /* csrrw zero, csr, a0 */

#endif
