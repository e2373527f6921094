/* SPDX-License-Identifier: Apache-2.0 */
/* A program of 300,000 user instructions in a loop of three, the first of which Tally emulates:
 * with kernel.perf_user_access=2 the counter that holds the event has another number. */
	.globl _start
_start:
	li t1, 100000
emulated:
	rdinstret t0
	addi t1, t1, -1
	bnez t1, emulated
	li a0, 0
	li a7, 93
	ecall
