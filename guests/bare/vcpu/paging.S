/* SPDX-License-Identifier: Apache-2.0 */
/* Trap vectors whose first instruction causes a page fault. s0 is the address. */
	.text
	.option	norvc
	.balign	64
	.globl	loading_vector
loading_vector:
	ld	t0, 0(s0)
	j	loading_vector

	.balign	64
	.globl	stack_vector
stack_vector:
	sd	t0, 0(s0)
	j	stack_vector

	.balign	64
	.globl	amo_vector
amo_vector:
	amoadd.d t0, zero, (s0)
	j	amo_vector
