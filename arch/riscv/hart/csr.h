/* SPDX-License-Identifier: Apache-2.0 */
/* CSR accesses, with numbers and fields named as in the ISA manuals. */
#ifndef ARCH_RISCV_HART_CSR_H
#define ARCH_RISCV_HART_CSR_H

/* Numbers of CSRs: GCC 12's assembler does not know all of these names. */
#define CSR_SSTATUS       0x100
#define CSR_SIE           0x104
#define CSR_STVEC         0x105
#define CSR_SCOUNTEREN    0x106
#define CSR_SENVCFG       0x10a
#define CSR_SCOUNTINHIBIT 0x120
#define CSR_SSCRATCH      0x140
#define CSR_SEPC          0x141
#define CSR_SCAUSE        0x142
#define CSR_STVAL         0x143
#define CSR_SIP           0x144
#define CSR_STIMECMP      0x14d
#define CSR_SCTRSTATUS    0x14f
#define CSR_SISELECT      0x150
#define CSR_SIREG         0x151
#define CSR_SIREG2        0x152
#define CSR_STOPEI        0x15c
#define CSR_SATP          0x180
#define CSR_VSSTATUS      0x200
#define CSR_VSIE          0x204
#define CSR_VSTVEC        0x205
#define CSR_VSSCRATCH     0x240
#define CSR_VSEPC         0x241
#define CSR_VSCAUSE       0x242
#define CSR_VSTVAL        0x243
#define CSR_VSIP          0x244
#define CSR_VSTIMECMP     0x24d
#define CSR_VSCTRCTL      0x24e
#define CSR_VSISELECT     0x250
#define CSR_VSIREG        0x251
#define CSR_VSATP         0x280
#define CSR_HSTATUS       0x600
#define CSR_HEDELEG       0x602
#define CSR_HIDELEG       0x603
#define CSR_HIE           0x604
#define CSR_HTIMEDELTA    0x605
#define CSR_HCOUNTEREN    0x606
#define CSR_HGEIE         0x607
#define CSR_HVIEN         0x608
#define CSR_HVICTL        0x609
#define CSR_HVIPRIO1      0x646
#define CSR_HENVCFG       0x60a
#define CSR_HSTATEEN0     0x60c
#define CSR_HTVAL         0x643
#define CSR_HIP           0x644
#define CSR_HVIP          0x645
#define CSR_HTINST        0x64a
#define CSR_HGATP         0x680
#define CSR_CYCLE         0xc00
#define CSR_TIME          0xc01
#define CSR_INSTRET       0xc02
#define CSR_HPMCOUNTER31  0xc1f
#define CSR_SCOUNTOVF     0xda0
#define CSR_HGEIP         0xe12

#define SSTATUS_SIE  (1UL << 1)
#define SSTATUS_SPIE (1UL << 5)
#define SSTATUS_SPP  (1UL << 8)
#define SSTATUS_VS   (3UL << 9)
#define SSTATUS_FS   (3UL << 13)

#define HSTATUS_SPV     (1UL << 7)
#define HSTATUS_SPVP    (1UL << 8)
#define HSTATUS_VGEIN   (63UL << HSTATUS_VGEIN_SHIFT)
#define HSTATUS_VTW     (1UL << 21)
#define HSTATUS_VSXL_64 (2UL << 32)

#define HSTATUS_VGEIN_SHIFT 12

#define HENVCFG_STCE       (1UL << 63)
#define HENVCFG_PBMTE      (1UL << 62)
#define HENVCFG_ADUE       (1UL << 61)
#define HENVCFG_CBZE       (1UL << 7)
#define HENVCFG_CBCFE      (1UL << 6)
#define HENVCFG_CBIE_FLUSH (1UL << 4)

#define HSTATEEN0_ENVCFG (1UL << 62)
#define HSTATEEN0_CSRIND (1UL << 60)
#define HSTATEEN0_AIA    (1UL << 59)
#define HSTATEEN0_IMSIC  (1UL << 58)

#define HVICTL_VTI           (1UL << 30)
#define HVICTL_IID_SHIFT     16
#define HVICTL_LEAST         (BIT(9) | 255UL) /* IPRIO, and DPR: after an equal one */
#define HVIPRIO1_LCOFI_FIRST (1UL << 40)      /* priority number of interrupt 13 */

#define VSATP_MODE_SV39   (8UL << 60)
#define HGATP_MODE_SV39X4 (8UL << 60)
#define HGATP_VMID_SHIFT  44
#define HGATP_VMID_MASK   0x3fffUL

/* Interrupt numbers, and exception causes of the H extension. */
#define IRQ_SSI         1
#define IRQ_VSSI        2
#define IRQ_STI         5
#define IRQ_VSTI        6
#define IRQ_SEI         9
#define IRQ_VSEI        10
#define IRQ_SGEI        12
#define IRQ_LCOFI       13
#define CAUSE_INTERRUPT (1UL << 63)

#define CAUSE_INSN_ACCESS      1
#define CAUSE_ILLEGAL_INSN     2
#define CAUSE_LOAD_ACCESS      5
#define CAUSE_STORE_ACCESS     7
#define CAUSE_ECALL_VS         10
#define CAUSE_INSN_PAGE        12
#define CAUSE_LOAD_PAGE        13
#define CAUSE_STORE_PAGE       15
#define CAUSE_INSN_GUEST_PAGE  20
#define CAUSE_LOAD_GUEST_PAGE  21
#define CAUSE_VIRTUAL_INSN     22
#define CAUSE_STORE_GUEST_PAGE 23

#ifndef __ASSEMBLER__
#include <stdint.h>

#define CSR_STR_(x) #x
#define CSR_STR(x)  CSR_STR_(x)

#define csr_read(csr)                                                                              \
	({                                                                                         \
		uint64_t csr_v_;                                                                   \
		__asm__ volatile("csrr %0, " CSR_STR(csr) : "=r"(csr_v_)::"memory");               \
		csr_v_;                                                                            \
	})
#define csr_write(csr, v)                                                                          \
	__asm__ volatile("csrw " CSR_STR(csr) ", %0" ::"rK"((uint64_t)(v)) : "memory")
#define csr_set(csr, v)                                                                            \
	__asm__ volatile("csrs " CSR_STR(csr) ", %0" ::"rK"((uint64_t)(v)) : "memory")
#define csr_clear(csr, v)                                                                          \
	__asm__ volatile("csrc " CSR_STR(csr) ", %0" ::"rK"((uint64_t)(v)) : "memory")
/* Set bits, or write all; both return the old value. */
#define CSR_EXCHANGE_(insn, csr, v)                                                                \
	({                                                                                         \
		uint64_t csr_v_;                                                                   \
		__asm__ volatile(insn " %0, " CSR_STR(csr) ", %1"                                  \
		                 : "=r"(csr_v_)                                                    \
		                 : "rK"((uint64_t)(v))                                             \
		                 : "memory");                                                      \
		csr_v_;                                                                            \
	})
#define csr_read_set(csr, v) CSR_EXCHANGE_("csrrs", csr, v)
#define csr_swap(csr, v)     CSR_EXCHANGE_("csrrw", csr, v)

/*
 * Executes one CSR instruction that may trap in HS-mode, under a trap_guard
 * (arch/riscv/hart/trap.h). It must be four bytes long, because the trap handler skips four bytes.
 * Returns 0 if it traps. csr_write(), csr_set() and csr_clear() may also be used under a guard.
 */
#define csr_read_guarded(csr)                                                                      \
	({                                                                                         \
		uint64_t csr_v_ = 0;                                                               \
		__asm__ volatile(                                                                  \
		    ".option push\n.option norvc\ncsrr %0, " CSR_STR(csr) "\n.option pop"          \
		    : "+r"(csr_v_)::"memory");                                                     \
		csr_v_;                                                                            \
	})

static inline void wfi(void)
{
	__asm__ volatile("wfi" ::: "memory");
}
#endif

#endif
