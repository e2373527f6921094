/* SPDX-License-Identifier: Apache-2.0 */
/* Code in which the instruction of every interrupt is known exactly. */
	.set	START_MASK, 0
	.set	START_VALUE, 8
	.set	ROUNDS, 16
	.set	USER, 24
	.set	INTERRUPTS, 32
	.set	CAUSE, 40
	.set	PC, 48
	.set	ROUND, 56
	.set	COUNTER, 64
	.set	SCOUNTOVF, 72
	.set	SIP, 80
	.set	SIP_AFTER, 88
	.set	T0, 96
	.set	STVEC, 104
	.set	NOW, 112

	.text
	.option	norvc
	.balign	4
	/* void run_code(struct run *r): t3 is the round, t4 the last one, t5 is r. */
	.globl	run_code
run_code:
	mv	t5, a0
	csrr	t0, stvec
	sd	t0, STVEC(t5)
	la	t0, run_vector
	csrw	stvec, t0
	csrw	sscratch, t5
	li	t3, 0
	ld	t4, ROUNDS(t5)
	/* sret leads to the code, in U, with interrupts of S on. */
	la	t0, run_loop
	csrw	sepc, t0
	li	t0, 0x100
	csrc	sstatus, t0
	li	a0, 0
	ld	a1, START_MASK(t5)
	li	a2, 1
	ld	a3, START_VALUE(t5)
	li	a6, 3
	li	a7, 0x504d55
	ld	t6, USER(t5)
	beqz	t6, 1f
	ecall
	sret
1:	ecall
	csrsi	sstatus, 2
	.globl	run_loop
run_loop:
	addi	t3, t3, 1
	bne	t3, t4, run_loop
	beqz	t6, run_end
	ecall
run_end:
	csrci	sstatus, 2
	csrw	sscratch, zero
	ld	t0, STVEC(t5)
	csrw	stvec, t0
	ret

	/* Two instructions come before the read of the counter. */
	.balign	4
run_vector:
	csrrw	t5, sscratch, t5
	sd	t0, T0(t5)
	.globl	run_vector_read
run_vector_read:
	csrr	t0, 0xc03		/* run_reads() sets the CSR number */
	sd	t0, NOW(t5)
	csrr	t0, scause
	bgez	t0, 2f
	sd	t0, CAUSE(t5)
	ld	t0, NOW(t5)
	sd	t0, COUNTER(t5)
	csrr	t0, sepc
	sd	t0, PC(t5)
	sd	t3, ROUND(t5)
	csrr	t0, 0xda0
	sd	t0, SCOUNTOVF(t5)
	csrr	t0, sip
	sd	t0, SIP(t5)
	li	t0, 1 << 13
	csrc	sip, t0
	csrr	t0, sip
	sd	t0, SIP_AFTER(t5)
	ld	t0, INTERRUPTS(t5)
	addi	t0, t0, 1
	sd	t0, INTERRUPTS(t5)
1:	ld	t0, T0(t5)
	csrrw	t5, sscratch, t5
	sret
	/* After the ecall from U: continues in S, interrupts off. */
2:	la	t0, run_end
	csrw	sepc, t0
	li	t0, 0x100
	csrs	sstatus, t0
	li	t0, 0x20
	csrc	sstatus, t0
	j	1b

	/* void run_reads(uint32_t ctr) */
	.globl	run_reads
run_reads:
	la	t0, run_vector_read
	slli	a0, a0, 20
	li	t1, 0xc00022f3		/* csrr t0, cycle */
	add	a0, a0, t1
	sw	a0, 0(t0)
	fence.i
	ret

	/* For user_run(): a0 is the number of rounds. */
	.globl	user_code
	.globl	user_loop
user_code:
user_loop:
	addi	a0, a0, -1
	bnez	a0, user_loop
	ecall
