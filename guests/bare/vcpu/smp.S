/* SPDX-License-Identifier: Apache-2.0 */
/* Entry of vcpus that run C code. a1 is their struct smp_vcpu (smp.h). */
	.text
	.option	norvc
	.balign	4
	.globl	smp_entry
smp_entry:
	ld	sp, 0(a1)
	ld	t0, 8(a1)
	csrr	t1, sstatus
	sd	t1, 16(a1)
	csrr	t1, satp
	sd	t1, 24(a1)
	csrr	t1, sie
	sd	t1, 32(a1)
	csrw	sscratch, zero
	la	t1, trap_entry
	csrw	stvec, t1
	jr	t0
