/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"

	.text
	.option	norvc
	/* void vs_work(bool user, uint64_t passes): see hpm_selfcheck.h. Without address
	 * translation; at boot, like vs_probe(). */
	.globl	vs_work
vs_work:
	csrr	t0, CSR_STVEC
	csrr	a4, CSR_HEDELEG
	csrr	a5, CSR_HSTATUS
	csrr	a6, CSR_SSTATUS
	la	t1, back_in_hs
	csrw	CSR_STVEC, t1
	la	t1, work
	csrw	CSR_SEPC, t1
	csrw	CSR_HEDELEG, zero
	csrw	CSR_VSATP, zero
	li	t1, 2 << 32
	csrw	CSR_VSSTATUS, t1
	li	t1, HSTATUS_SPV | HSTATUS_SPVP
	csrs	CSR_HSTATUS, t1
	li	t1, SSTATUS_SPP
	csrs	CSR_SSTATUS, t1
	beqz	a0, 1f
	csrc	CSR_SSTATUS, t1
	/* A page of Tally that is neither this one nor that of the stack. */
1:	la	t1, work
	lui	a0, 1
	add	a0, a0, t1
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
back_in_hs:
	csrw	CSR_STVEC, t0
	csrw	CSR_HEDELEG, a4
	csrw	CSR_HSTATUS, a5
	csrw	CSR_SSTATUS, a6
	ret
