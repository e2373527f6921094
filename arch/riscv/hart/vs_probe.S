/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"

	.text
	.option	norvc
	/*
	 * bool vs_probe(uint64_t vsie, uint64_t hvip, uint64_t hvictl, uint64_t set, uint64_t on):
	 * see quirks.h. Makes two CSR accesses in VS-mode, without address translation. At boot:
	 * the VS CSRs hold nothing of a guest, and sie is 0.
	 */
	.globl	vs_probe
vs_probe:
	csrr	t0, CSR_STVEC
	csrr	a5, CSR_HSTATUS
	csrr	a6, CSR_SSTATUS
	la	t1, back_in_hs
	csrw	CSR_STVEC, t1
	la	t1, taken
	csrw	CSR_VSTVEC, t1
	la	t1, in_vs
	csrw	CSR_SEPC, t1
	li	t1, HSTATUS_SPV | HSTATUS_SPVP
	csrs	CSR_HSTATUS, t1
	li	t1, SSTATUS_SPP
	csrs	CSR_SSTATUS, t1
	li	t1, 2 << 32
	or	t1, t1, a4
	csrw	CSR_VSSTATUS, t1
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
back_in_hs:
	csrw	CSR_HVICTL, zero
	csrw	CSR_HVIP, zero
	csrw	CSR_VSIE, zero
	csrw	CSR_STVEC, t0
	csrw	CSR_HSTATUS, a5
	csrw	CSR_SSTATUS, a6
	ret
