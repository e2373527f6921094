/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"

	.text
	.option	norvc
	/*
	 * uint64_t vs_wfi(uint64_t *pc): executes the WFI below in VS-mode, where it traps, without
	 * address translation. Returns scause; *pc becomes sepc. At boot, like vs_probe().
	 */
	.globl	vs_wfi
vs_wfi:
	csrr	t0, CSR_STVEC
	csrr	a4, CSR_HEDELEG
	csrr	a5, CSR_HSTATUS
	csrr	a6, CSR_SSTATUS
	la	t1, back_in_hs
	csrw	CSR_STVEC, t1
	la	t1, vs_wfi_at
	csrw	CSR_SEPC, t1
	csrw	CSR_HEDELEG, zero
	csrw	CSR_VSATP, zero
	li	t1, 2 << 32
	csrw	CSR_VSSTATUS, t1
	li	t1, HSTATUS_SPV | HSTATUS_SPVP | HSTATUS_VTW
	csrs	CSR_HSTATUS, t1
	li	t1, SSTATUS_SPP
	csrs	CSR_SSTATUS, t1
	sret
	.balign	4
back_in_hs:
	csrr	t1, CSR_SEPC
	sd	t1, 0(a0)
	csrr	a0, CSR_SCAUSE
	csrw	CSR_STVEC, t0
	csrw	CSR_HEDELEG, a4
	csrw	CSR_HSTATUS, a5
	csrw	CSR_SSTATUS, a6
	ret

	/* link.ld makes the first of these the last word of a page. */
	.section .page_end, "ax"
	.globl	vs_wfi_at
vs_wfi_at:
	wfi
	ecall
