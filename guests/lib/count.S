/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of known length around counter reads. The CSR number is part of the instruction, so each
 * counter has its own copy, which a table at the end locates. It runs in S and in U.
 */
	.text
	.option	norvc
	.balign	64
	.set	n, 0
	.rept	32
	/* segment: a0 rounds. Between the reads are 2 * a0 instructions, and one read counts. */
	.balign	128
	csrr	t0, 0xc00 + n
1:	addi	a0, a0, -1
	bnez	a0, 1b
	csrr	t1, 0xc00 + n
	sub	a0, t1, t0
	ret
	/* read */
	.balign	32
	csrr	a0, 0xc00 + n
	ret
	/* reads: a0 array, a1 length. There are five instructions from read to read. */
	.balign	32
1:	csrr	t0, 0xc00 + n
	sd	t0, 0(a0)
	addi	a0, a0, 8
	addi	a1, a1, -1
	bnez	a1, 1b
	ret
	.set	n, n + 1
	.endr
	.balign	128
	.globl	count_code_end
count_code_end:

	/*
	 * Each copy takes 128 bytes: segment at 0, read at 32, reads at 64. The label is that of
	 * counter 3; copies 0 to 2 are before it.
	 */
	.globl	segment_of
segment_of:
	li	t0, 0
	j	1f
	.globl	read_of
read_of:
	li	t0, 32
	j	1f
	.globl	reads_of
reads_of:
	li	t0, 64
1:	la	t1, count_code_end - 29 * 128
	addi	a0, a0, -3
	slli	a0, a0, 7
	add	a0, a0, t1
	add	a0, a0, t0
	ret

	/* In U: 1 jalr, then the function, then ecall. */
	.globl	user_call
user_call:
	jalr	a1
	ecall
