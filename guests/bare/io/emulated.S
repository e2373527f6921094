/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to a register of a device, for emulated.c. */
	/* void op(at): eight times the same instruction. All of them take as many. */
	.macro	op name, insn:vararg
	.balign	8
	.option	push
	.option	norvc
op_\name:
	li	a1, 0x15
	.option	pop
	.rept	8
	\insn
	.endr
	ret
	.endm

	.text
	op	nop, nop
	op	lb, lb a1, (a0)
	op	lbu, lbu a1, (a0)
	op	lh, lh a1, (a0)
	op	lhu, lhu a1, (a0)
	op	lw, .4byte 0x00052583	/* lw a1, (a0), not compressed */
	op	lwu, lwu a1, (a0)
	op	ld, .4byte 0x00053583
	op	c_lw, c.lw a1, (a0)
	op	c_ld, c.ld a1, (a0)
	op	sb, sb a1, (a0)
	op	sh, sh a1, (a0)
	op	sw, .4byte 0x00b52023
	op	sd, .4byte 0x00b53023
	op	c_sw, c.sw a1, (a0)
	op	c_sd, c.sd a1, (a0)

	/* void into_all(at, uint64_t values[64]): loads into each register, and puts what it got
	 * into the upper half. */
	.globl	into_all
into_all:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sd	x\n, 8 * \n(a1)
	lw	x\n, (a0)
	sd	x\n, 256 + 8 * \n(a1)
	ld	x\n, 8 * \n(a1)
	.endr
	mv	a2, a0
	lw	a0, (a2)
	sd	a0, 256 + 8 * 10(a1)
	mv	a3, a1
	lw	a1, (a2)
	sd	a1, 256 + 8 * 11(a3)
	ret

	/* void from_all(at, uint64_t values[64]): stores the lower bits of each register's number,
	 * and puts what is then there into the upper half. */
	.globl	from_all
from_all:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sd	x\n, 8 * \n(a1)
	li	x\n, \n & 7
	sw	x\n, (a0)
	ld	x\n, 8 * \n(a1)
	lw	a2, (a0)
	sd	a2, 256 + 8 * \n(a1)
	.endr
	li	a2, 12 & 7
	sw	a2, (a0)
	lw	a3, (a0)
	sd	a3, 256 + 8 * 12(a1)
	mv	a2, a0
	li	a0, 10 & 7
	sw	a0, (a2)
	lw	a3, (a2)
	sd	a3, 256 + 8 * 10(a1)
	mv	a4, a1
	li	a1, 11 & 7
	sw	a1, (a2)
	lw	a3, (a2)
	sd	a3, 256 + 8 * 11(a4)
	ret

	.section .rodata
	.balign	8
	.macro	row name, width
	.asciz	"\name"
	.balign	8
	.dword	op_\name, \width
	.endm
	/* struct op of emulated.c; the first one accesses nothing. */
	.globl	ops, n_ops
ops:
	row	nop, 1
	row	lb, 1
	row	lbu, 1
	row	lh, 2
	row	lhu, 2
	row	lw, 4
	row	lwu, 4
	row	ld, 8
	row	c_lw, 4
	row	c_ld, 8
	row	sb, 1
	row	sh, 2
	row	sw, 4
	row	sd, 8
	row	c_sw, 4
	row	c_sd, 8
n_ops:	.dword	(n_ops - ops) / 24
