/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program with two functions in the ratio three to one: 20,000,011 instructions. heavy executes
 * the 4th to the 15,000,004th, light 5,000,001 and _start the others.
 */
	.option	norvc
	.option	norelax
	.text
	.globl	_start
	.type	_start, @function
_start:
	lui	t0, %hi(7500000)
	addi	t0, t0, %lo(7500000)
	jal	heavy
	lui	t0, %hi(2500000)
	addi	t0, t0, %lo(2500000)
	jal	light
	addi	a0, zero, 0
	addi	a7, zero, 93
	ecall
	.size	_start, . - _start
	.type	heavy, @function
heavy:
	addi	t0, t0, -1
	bnez	t0, heavy
	ret
	.size	heavy, . - heavy
	.type	light, @function
light:
	addi	t0, t0, -1
	bnez	t0, light
	ret
	.size	light, . - light
