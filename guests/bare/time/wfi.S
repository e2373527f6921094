/* SPDX-License-Identifier: Apache-2.0 */
/* Code of known length around an instruction that waits. */
	.text
	.option	norvc

	/*
	 * count_around(read, body): returns by how much the counter that read() reads advances over
	 * body(). Between the two csrr: ret, mv, jalr, the body, jalr; and one csrr counts itself.
	 */
	.globl	count_around
count_around:
	addi	sp, sp, -32
	sd	ra, 0(sp)
	sd	s0, 8(sp)
	sd	s1, 16(sp)
	mv	s0, a0
	mv	s1, a1
	jalr	s0
	mv	a1, a0
	jalr	s1
	jalr	s0
	sub	a0, a0, a1
	ld	ra, 0(sp)
	ld	s0, 8(sp)
	ld	s1, 16(sp)
	addi	sp, sp, 32
	ret

	/*
	 * Bodies of ten instructions, each in one translation block: no branch, no CSR, no page
	 * boundary.
	 */
	.macro	body	name, insn:vararg
	.balign	64
	.globl	\name
\name:
	\insn
	.rept	8
	nop
	.endr
	ret
	.endm
	body	body_nop, nop
	body	body_wfi, wfi
	body	body_wrs, .word 0x00d00073

	/* Two instructions, of which the first is at this offset of a page. */
	.macro	edge	name, offset, insn:vararg
	.balign	4096
	.skip	\offset
	.globl	\name
\name:
	\insn
	ret
	.endm
	.option	rvc
	edge	edge_nop, 4092, .word 0x00000013
	edge	edge_wfi, 4092, wfi
	edge	edge_wrs, 4092, .word 0x00d00073
	edge	across_nop, 4094, .word 0x00000013
	edge	across_wfi, 4094, wfi
	edge	across_wrs, 4094, .word 0x00d00073
