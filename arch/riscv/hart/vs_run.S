/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"

	.text
	.option	norvc
	.option	arch, +h
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
	csrr	t0, CSR_STVEC
	csrr	a4, CSR_HEDELEG
	csrr	a5, CSR_HSTATUS
	csrr	a6, CSR_SSTATUS
	la	t1, back_in_hs
	csrw	CSR_STVEC, t1
	csrw	CSR_SEPC, a0
	csrw	CSR_HEDELEG, zero
	li	t1, 2 << 32
	csrw	CSR_VSSTATUS, t1
	li	t1, HSTATUS_SPV | HSTATUS_SPVP | HSTATUS_VTW
	csrs	CSR_HSTATUS, t1
	li	t1, SSTATUS_SPP
	csrs	CSR_SSTATUS, t1
	sret
	.balign	4
back_in_hs:
	csrw	CSR_VSATP, zero
	csrw	CSR_HGATP, zero
	csrr	a0, CSR_SCAUSE
	csrw	CSR_STVEC, t0
	csrw	CSR_HEDELEG, a4
	csrw	CSR_HSTATUS, a5
	csrw	CSR_SSTATUS, a6
	ret

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
