/* SPDX-License-Identifier: Apache-2.0 */
	.text
	.option	norvc
	/*
	 * ovf_run(mask, value, limit, result[3]): starts the counters and runs a loop until an
	 * interrupt or the limit. After the ecall come 1 csrsi, then rounds of two instructions.
	 */
	.globl	ovf_run
	.globl	ovf_loop
	.globl	ovf_end
ovf_run:
	mv	t4, a2
	li	t3, 0
	mv	a3, a1
	mv	a1, a0
	li	a0, 0
	li	a2, 1
	li	a6, 3
	li	a7, 0x504d55
	ecall
	csrsi	sstatus, 2
ovf_loop:
	addi	t3, t3, 1
	bne	t3, t4, ovf_loop
ovf_end:
	csrci	sstatus, 2
	ret
