/* SPDX-License-Identifier: Apache-2.0 */
/* Every hart starts here, in M-mode: a0 = hartid, a1 = device tree. */
	.section .head, "ax"
	.globl	_start
_start:
	csrw	mie, zero
	la	sp, stacks
	addi	t0, a0, 1
	slli	t0, t0, 12
	add	sp, sp, t0
	csrw	mscratch, sp
	la	t0, trap
	csrw	mtvec, t0
	call	hart_main
1:	j	1b

	.text
	.balign	4
trap:
	csrrw	sp, mscratch, sp
	addi	sp, sp, -256
	.irp	n, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sd	x\n, \n * 8(sp)
	.endr
	csrr	t0, mscratch
	sd	t0, 16(sp)
	addi	t0, sp, 256
	csrw	mscratch, t0
	mv	a0, sp
	call	trapped
	.irp	n, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	ld	x\n, \n * 8(sp)
	.endr
	ld	sp, 16(sp)
	mret

	.bss
	.balign	16
stacks:
	.space	64 * 4096
