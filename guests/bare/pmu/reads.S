/* SPDX-License-Identifier: Apache-2.0 */
/* U code for user_run(), and the entry of other vcpus. */
	.text
	.option	norvc
	/* user_reads(struct user_reads *): reads a counter many times in a row, in U; see
	 * reads.c. */
	.globl	user_reads
user_reads:
	ld	t2, 0(a0)
	ld	a1, 16(a0)
	ld	a0, 8(a0)
	jalr	t2
	ecall

	/*
	 * Another vcpu of this guest: it sleeps, and is woken by IPIs and by its own timer, 20,000
	 * times a second. Interrupts stay off, so it needs no trap vector and no stack.
	 */
	.balign	4
	.globl	secondary
secondary:
	li	t0, 0x22		/* SSIE, STIE */
	csrw	sie, t0
1:	csrci	sip, 2
	rdtime	t0
	addi	t0, t0, 500
	csrw	0x14d, t0		/* stimecmp */
	wfi
	j	1b
