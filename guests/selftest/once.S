/* SPDX-License-Identifier: Apache-2.0 */
	.text
	.option	norvc
	/*
	 * once_run(mask, rounds): starts the counter at 0, executes two instructions per round, and
	 * stops it. Between the two calls there are 2 * rounds + 4 instructions, and those of the
	 * second call.
	 */
	.globl	once_run
once_run:
	mv	t3, a1
	mv	t4, a0
	mv	a1, a0
	li	a0, 0
	li	a2, 1
	li	a3, 0
	li	a6, 3
	li	a7, 0x504d55
	ecall
1:	addi	t3, t3, -1
	bnez	t3, 1b
	li	a0, 0
	mv	a1, t4
	li	a2, 0
	li	a6, 4
	ecall
	ret

	/*
	 * wait_run(mask): starts the counters at 0, waits for an interrupt, and stops them. WFI and
	 * what follows it, the second call included, are 10 instructions.
	 */
	.globl	wait_run
wait_run:
	mv	t4, a0
	mv	a1, a0
	li	a0, 0
	li	a2, 1
	li	a3, 0
	li	a6, 3
	li	a7, 0x504d55
	ecall
	wfi
	li	a0, 0
	mv	a1, t4
	li	a2, 0
	li	a6, 4
	.rept	4
	nop
	.endr
	ecall
	ret

	/* For user_run(): three instructions, then returns. */
	.globl	user_three
user_three:
	nop
	nop
	nop
	ecall
