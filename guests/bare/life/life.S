/* SPDX-License-Identifier: Apache-2.0 */
/* Trap vectors of which three cause trap loops and one only looks like it. */
	.text
	.option	norvc
	.balign	64
	.globl	illegal_vector
illegal_vector:
	.word	0

	.balign	64
	.globl	storing_vector
storing_vector:
	csrrw	t0, sscratch, t0
	li	t0, 0x40000000
	addi	sp, sp, -288
	sd	t1, 0(t0)
	j	storing_vector

	/*
	 * Traps once inside itself, then spins at an address before the one that trapped, a0
	 * rounds, and shuts down. At each check it is where a trap loop would be, but it is none.
	 * s0 is 0.
	 */
	.balign	64
	.globl	patient_vector
patient_vector:
	bnez	s0, 1f
	j	2f
1:	addi	a0, a0, -1
	bnez	a0, 1b
	li	a1, 0
	li	a6, 0
	li	a7, 0x53525354		/* SRST */
	ecall
2:	li	s0, 1
	.word	0

	/* Without a loop of its own, time would hardly pass: a trap is one instruction. */
	.balign	64
	.globl	breaking_vector
breaking_vector:
	li	t0, 200
1:	addi	t0, t0, -1
	bnez	t0, 1b
	ebreak
