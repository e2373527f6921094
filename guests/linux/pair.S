/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pair(struct pair *): reads a counter through perf's mmap page, like libperf, and then by read();
 * see pair.h. Between the two are PAIR_INSNS instructions, and two for each round of the gap.
 */
#include "guests/linux/pair.h"

	.text
	.option	norvc
	.globl	pair
pair:
	addi	sp, sp, -32
	sd	ra, 0(sp)
	sd	s0, 8(sp)
	sd	s1, 16(sp)
	mv	s0, a0
	ld	s1, PAIR_PAGE(s0)
	rdtime	t0
	sd	t0, PAIR_BEGAN(s0)
	lwu	t0, PAGE_LOCK(s1)
	sd	t0, PAIR_LOCK(s0)
	fence	r, r
	lwu	t0, PAGE_INDEX(s1)
	sd	t0, PAIR_INDEX(s0)
	ld	t0, PAGE_OFFSET(s1)
	sd	t0, PAIR_OFFSET(s0)
	ld	t0, PAIR_CSRR(s0)
	jalr	t0			/* csrr; counted from here: ret, 1 */
	sd	a0, PAIR_RAW(s0)
	fence	r, r
	lwu	t0, PAGE_LOCK(s1)
	sd	t0, PAIR_LOCK_AFTER(s0)	/* 5 */
	ld	t0, PAIR_GAP(s0)
1:	addi	t0, t0, -1
	bnez	t0, 1b
	ld	a0, PAIR_FD(s0)
	addi	a1, s0, PAIR_VALUE
	li	a2, 8
	li	a7, 63			/* read */
	ecall				/* 11 */
	rdtime	t0
	sd	t0, PAIR_ENDED(s0)
	ld	ra, 0(sp)
	ld	s0, 8(sp)
	ld	s1, 16(sp)
	addi	sp, sp, 32
	ret
