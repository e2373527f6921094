/* SPDX-License-Identifier: Apache-2.0 */
	.text
	.option	norvc
	/* void victim_spin(const uint64_t *x, uint64_t *found, uint64_t spins): loads x1 to x30,
	 * spins, and stores them. Interrupts are off, and nothing traps. */
	.globl	victim_spin
victim_spin:
	la	t0, saved
	.irp	n, 1, 2, 3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
	sd	x\n, (8 * \n)(t0)
	.endr
	sd	a1, 0(t0)
	mv	x31, a0
	/* The number of rounds waits where nothing else is. */
	fmv.d.x	f0, a2
	.irp	n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	ld	x\n, (8 * \n)(x31)
	.endr
	fmv.x.d	x31, f0
1:	addi	x31, x31, -1
	bnez	x31, 1b
	la	x31, saved
	ld	x31, 0(x31)
	.irp	n, 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	sd	x\n, (8 * \n)(x31)
	.endr
	la	t0, saved
	.irp	n, 1, 2, 3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
	ld	x\n, (8 * \n)(t0)
	.endr
	ret

	.section .bss.victim, "aw", @nobits
	.balign	16
saved:
	.skip	8 * 32
