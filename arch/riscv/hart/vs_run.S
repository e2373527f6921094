/* SPDX-License-Identifier: Apache-2.0 */
/* Code that boot runs in VS-mode. The VS CSRs hold nothing of a guest, and sie is 0. */
#include "arch/riscv/hart/csr.h"

	.text
	.option	norvc
	.option	arch, +h

/* Prepares a step into VS-mode at the address in \pc, where WFI traps. Its first trap leads to
 * back_in_hs_\name. Clobbers t1, and t0 and a5 to a7, which leave_vs needs. */
	.macro	prepare_vs name pc
	csrr	t0, CSR_STVEC
	csrr	a5, CSR_HEDELEG
	csrr	a6, CSR_HSTATUS
	csrr	a7, CSR_SSTATUS
	csrw	CSR_SEPC, \pc
	la	t1, back_in_hs_\name
	csrw	CSR_STVEC, t1
	csrw	CSR_HEDELEG, zero
	li	t1, 2 << 32
	csrw	CSR_VSSTATUS, t1
	li	t1, HSTATUS_SPV | HSTATUS_SPVP | HSTATUS_VTW
	csrs	CSR_HSTATUS, t1
	li	t1, SSTATUS_SPP
	csrs	CSR_SSTATUS, t1
	.endm

	.macro	leave_vs
	csrw	CSR_STVEC, t0
	csrw	CSR_HEDELEG, a5
	csrw	CSR_HSTATUS, a6
	csrw	CSR_SSTATUS, a7
	ret
	.endm

	/*
	 * bool vs_probe(uint64_t vsie, uint64_t hvip, uint64_t hvictl, uint64_t set, uint64_t on):
	 * see quirks.h. Makes two CSR accesses in VS-mode, without address translation.
	 */
	.globl	vs_probe
vs_probe:
	la	t1, in_vs
	prepare_vs probe t1
	la	t1, taken
	csrw	CSR_VSTVEC, t1
	csrs	CSR_VSSTATUS, a4
	csrw	CSR_VSATP, zero
	csrw	CSR_VSIE, a0
	csrw	CSR_HVIP, a1
	csrw	CSR_HVICTL, a2
	li	a0, 0
	sret
	.balign	4
in_vs:
	csrs	CSR_SIE, a3
	csrsi	CSR_SSTATUS, SSTATUS_SIE
	csrci	CSR_SSTATUS, SSTATUS_SIE
	ecall
	.balign	4
taken:
	li	a0, 1
	ecall
	.balign	4
back_in_hs_probe:
	csrw	CSR_HVICTL, zero
	csrw	CSR_HVIP, zero
	csrw	CSR_VSIE, zero
	leave_vs

	/* struct vs_end vs_run(uint64_t pc, uint64_t address, uint64_t vsatp, uint64_t hgatp): see
	 * quirks.h. Translations are loaded in the order of a world switch. a1 is returned as the
	 * code left it. */
	.globl	vs_run
vs_run:
	addi	t1, sp, -8
	sc.d	zero, zero, (t1)
	csrw	CSR_HGATP, a3
	hfence.gvma
	hfence.vvma
	csrw	CSR_VSATP, a2
	prepare_vs run a0
	sret
	.balign	4
back_in_hs_run:
	csrw	CSR_VSATP, zero
	csrw	CSR_HGATP, zero
	csrr	a0, CSR_SCAUSE
	leave_vs

	/* void vs_work(bool user, uint64_t passes): see hpm_selfcheck.h. Without address
	 * translation. */
	.globl	vs_work
vs_work:
	la	a2, work
	prepare_vs work a2
	csrw	CSR_VSATP, zero
	beqz	a0, 1f
	csrc	CSR_SSTATUS, t1
	/* A page of Tally that is neither this one nor that of the stack. */
1:	lui	a0, 1
	add	a0, a0, a2
	sret
work:
	.rept	24
	nop
	.endr
2:	addi	a1, a1, -1
	bnez	a1, 2b
	j	1f
1:	j	1f
1:	lb	a0, 0(a0)
	/* Unused memory below the stack: no interrupt is taken meanwhile. */
	sd	a0, -8(sp)
	nop
	nop
	ecall
	.balign	4
back_in_hs_work:
	leave_vs

	/* For ad_trial.c. Both are in one page. */
	.balign	16
	.globl	vs_load_at, vs_store_at
vs_load_at:
	ld	zero, 0(a1)
	ecall
vs_store_at:
	sd	zero, 0(a1)
	ecall

	/* For hpm_flag_trials.c. */
	.balign	4
	.globl	vs_scountovf_at
vs_scountovf_at:
	csrr	a1, CSR_SCOUNTOVF
	ecall

	/* For quirk_probe_wfi_pc(). link.ld makes the first instruction the last word of a page. */
	.section .page_end, "ax"
	.globl	vs_wfi_at
vs_wfi_at:
	wfi
	ecall
