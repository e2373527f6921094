/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that executes an exact number of instructions: `work N`, with N decimal, at least 200;
 * default 50,000,000. The first one counted is the one at _start, the last is the ecall of exit.
 * There is no C library, so nothing else runs in user mode, and the number that `perf stat -e
 * instructions:u` must print is known.
 *
 * The loop reads a byte of another page in each round, to use the TLB. A load that faults has not
 * retired; it counts once, when it has succeeded. Compressed instructions are off, because a jump
 * into the row of nops needs them all to have the same size.
 */
	.option norvc
	.option norelax

/* Instructions outside the loops, from _start to the exit: fixed, and per digit of N. */
#define FIXED    32
#define DIGIT    8
#define ROUND    6
#define BUF_SIZE (64 * 4096)

	.section .rodata
standard:
	.asciz	"50000000"

	.bss
	.balign	4096
buf:
	.space	BUF_SIZE

	.text
	.globl	_start
_start:
	/* a0 = the text of N; 6 instructions on both paths. */
	ld	t0, 0(sp)
	addi	t1, zero, 1
	bgt	t0, t1, 1f
	lla	a0, standard		/* 2 */
	j	2f
1:	ld	a0, 16(sp)
	nop
	nop
2:
	/* a1 = N, a2 = instructions outside the loop; 3 and DIGIT per digit and 2. */
	addi	a1, zero, 0
	addi	t3, zero, 10
	addi	a2, zero, FIXED
3:	lbu	t1, 0(a0)
	beqz	t1, 4f
	addi	t1, t1, -'0'
	mul	a1, a1, t3
	add	a1, a1, t1
	addi	a0, a0, 1
	addi	a2, a2, DIGIT
	j	3b
4:
	/* t4 rounds of the loop and t5 nops; 5. */
	bltu	a1, a2, fail
	sub	a1, a1, a2
	addi	t2, zero, ROUND
	divu	t4, a1, t2
	remu	t5, a1, t2

	/* Preparation of the loop; 7. */
	lla	s0, buf			/* 2 */
	addi	s1, zero, 0
	lui	s2, 1
	addi	s2, s2, 64
	lui	s3, BUF_SIZE >> 12
	addi	s3, s3, -1

	/* Enters the row of nops t5 before its end; 5. */
	lla	t6, nops_end		/* 2 */
	slli	t5, t5, 2
	sub	t6, t6, t5
	jr	t6
	.rept	ROUND - 1
	nop
	.endr
nops_end:
	/* 1 */
	beqz	t4, done
loop:
	add	t0, s0, s1
	lbu	t1, 0(t0)
	add	s1, s1, s2
	and	s1, s1, s3
	addi	t4, t4, -1
	bnez	t4, loop
done:
	/* 3 */
	addi	a0, zero, 0
	addi	a7, zero, 93
	ecall
fail:
	addi	a0, zero, 2
	addi	a7, zero, 93
	ecall
