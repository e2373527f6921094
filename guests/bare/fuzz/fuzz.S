/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traps and calls of kind `fuzz` (fuzz.h). A vector finds its vcpu by its own address, because any
 * register may hold anything.
 */
#include "guests/bare/fuzz/fuzz.h"

	.text
	.option	norvc
	.balign	64
	.globl	fuzz_vectors
fuzz_vectors:
	.set	n, 0
	.rept	FUZZ_VCPUS
	.balign	64
	csrw	sscratch, sp
	la	sp, fuzz_first + n * FUZZ_SIZE
	j	trapped
	.set	n, n + 1
	.endr
	.balign	64
trapped:
	.irp	n, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sd	x\n, (8 * \n)(sp)
	.endr
	csrr	t0, sscratch
	sd	t0, 16(sp)
	csrr	t0, sepc
	sd	t0, FUZZ_PC(sp)
	csrr	t0, sstatus
	sd	t0, FUZZ_STATUS(sp)
	csrr	t0, scause
	sd	t0, FUZZ_CAUSE(sp)
	csrr	t0, stval
	sd	t0, FUZZ_TVAL(sp)
	mv	a0, sp
	mv	s0, sp
	ld	sp, FUZZ_STACK(sp)
	call	fuzz_trap
	mv	sp, s0
	li	t0, 1
	beq	a0, t0, give_up
	bgtu	a0, t0, return
	ld	t0, FUZZ_PC(sp)
	csrw	sepc, t0
	ld	t0, FUZZ_STATUS(sp)
	csrw	sstatus, t0
	.irp	n, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	ld	x\n, (8 * \n)(sp)
	.endr
	ld	sp, 16(sp)
	sret
return:
	ld	sp, FUZZ_RUN_SP(sp)
	j	leave
give_up:
	ld	sp, FUZZ_STEP_SP(sp)
leave:
	ld	ra, 0(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	ld	s\n, (8 + 8 * \n)(sp)
	.endr
	addi	sp, sp, 112
	ret

	.macro	enter
	addi	sp, sp, -112
	sd	ra, 0(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	sd	s\n, (8 + 8 * \n)(sp)
	.endr
	.endm

	.globl	fuzz_try
fuzz_try:
	enter
	sd	sp, FUZZ_STEP_SP(a0)
	jalr	a1
	j	leave

	.globl	fuzz_run
fuzz_run:
	enter
	sd	sp, FUZZ_RUN_SP(a0)
	csrw	sepc, a2
	mv	x31, a1
	.irp	n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	ld	x\n, (8 * \n)(x31)
	.endr
	ld	x31, 248(x31)
	sret

	.globl	fuzz_begin
fuzz_begin:
	csrci	sstatus, 2
	csrw	satp, zero
	li	t0, FUZZ_VCPUS
1:	bgeu	a0, t0, 1b
	la	t1, fuzz_vectors
	slli	t0, a0, 6
	add	t1, t1, t0
	csrw	stvec, t1
	slli	a0, a0, 13
	la	t0, fuzz_first
	add	a0, a0, t0
	ld	sp, FUZZ_BEGIN(a0)
	j	fuzz_loop

	.section .bss.fuzz, "aw", @nobits
	.balign	4096
	.globl	fuzz_first
fuzz_first:
	.skip	FUZZ_SIZE * FUZZ_VCPUS
	.skip	64
