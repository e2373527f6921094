/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executes the steps of a sequence. Each kind of step takes a fixed number of instructions, which
 * replay_costs contains, and who made the sequence relied on them. Results are stored and compared
 * afterwards.
 *
 *   s0 step, s1 result, s2 steps left, s3 handlers, s4 user code, s5 where a trap continues,
 *   s6 end of a read, s7 next step, s9 reads of counters, s10 sstatus.SPP
 */
#define STEP_SIZE   80
#define RESULT_SIZE 16
#define SPP         0x100
#define SPIE        0x20

	.text
	.option	norvc
	.balign	128
	/* replay_run(steps, results, n) */
	.globl	replay_run
replay_run:
	addi	sp, sp, -112
	sd	ra, 0(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	sd	s\n, (8 + 8 * \n)(sp)
	.endr
	mv	s0, a0
	mv	s1, a1
	mv	s2, a2
	la	s3, handlers
	la	s4, user_loop
	la	s6, read_end
	la	s7, next
	la	s9, counters
	li	s10, SPP
	la	t0, engine_trap
	csrrw	s8, stvec, t0
	/* Interrupts are always off in S. In U they are on, but sie is 0. */
	li	t0, SPP | SPIE
	csrc	sstatus, t0

dispatch:
	beqz	s2, done
	ld	t0, 0(s0)
	slli	t0, t0, 7
	add	t0, t0, s3
	jr	t0
dispatch_end:

next:
	addi	s0, s0, STEP_SIZE
	addi	s1, s1, RESULT_SIZE
	addi	s2, s2, -1
	j	dispatch
next_end:

done:
	csrw	stvec, s8
	ld	ra, 0(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	ld	s\n, (8 + 8 * \n)(sp)
	.endr
	addi	sp, sp, 112
	ret

	/* stvec: an ecall from U, or an illegal read of a counter. */
	.balign	4
engine_trap:
	jr	s5
engine_trap_end:

	/* In U: t1 rounds. */
user_loop:
	addi	t1, t1, -1
	bnez	t1, user_loop
	ecall

	/* One handler per 128 bytes, by kind. */
	.balign	128
handlers:
call:
	ld	a0, 8(s0)
	ld	a1, 16(s0)
	ld	a2, 24(s0)
	ld	a3, 32(s0)
	ld	a4, 40(s0)
	ld	a6, 48(s0)
	ld	a7, 56(s0)
	ecall
call_done:
	sd	a0, 0(s1)
	sd	a1, 8(s1)
	j	next
call_end:

	.balign	128
run:
	ld	t1, 8(s0)
1:	addi	t1, t1, -1
	bnez	t1, 1b
run_done:
	j	next
run_end:

	.balign	128
user:
	ld	t1, 8(s0)
	mv	s5, s7
	csrw	sepc, s4
	csrc	sstatus, s10
	sret
user_done:

	.balign	128
read:
	ld	t1, 8(s0)
	slli	t1, t1, 3
	add	t1, t1, s9
	mv	s5, s6
	li	a0, 0
	li	a1, 1
	jr	t1
read_jumped:
read_ok:
	li	a1, 0
read_end:
	sd	a1, 0(s1)
	sd	a0, 8(s1)
	j	next
read_done:

	.balign	128
ovf:
	csrr	a0, 0xda0
ovf_done:
	sd	zero, 0(s1)
	sd	a0, 8(s1)
	j	next
ovf_end:

	.balign	128
lcofip:
	li	t1, 1 << 13
	csrrc	a0, sip, t1
lcofip_done:
	srli	a0, a0, 13
	andi	a0, a0, 1
	sd	zero, 0(s1)
	sd	a0, 8(s1)
	j	next
lcofip_end:

	.balign	128
poke:
	ld	t1, 8(s0)
	ld	t2, 16(s0)
	sd	t2, 0(t1)
poke_done:
	j	next
poke_end:

	.balign	128
peek:
	ld	t1, 8(s0)
	ld	a0, 0(t1)
peek_done:
	sd	zero, 0(s1)
	sd	a0, 8(s1)
	j	next
peek_end:

	/* The CSR number is part of the instruction, so each counter has its own code of 8
	 * bytes. */
	.balign	128
counters:
	.set	n, 0
	.rept	32
	csrr	a0, 0xc00 + n
	j	read_ok
	.set	n, n + 1
	.endr

	.section .rodata
	.balign	8
	/* The instructions at the beginning and end of every step, and those of its kind. */
	.macro	cost_before from, to, more=0
	.dword	(dispatch_end - dispatch) / 4 + (\to - \from) / 4 + \more
	.endm
	.macro	cost_after from, to, more=0
	.dword	(\to - \from) / 4 + (next_end - next) / 4 + \more
	.endm
	.globl	replay_costs
replay_costs:
	cost_before call, call_done
	cost_after call_done, call_end
	/* The two instructions of a round are counted with the rounds. */
	cost_before run, run_done, -2
	cost_after run_done, run_end
	cost_before user, user_done
	cost_after engine_trap, engine_trap_end
	/* The read itself, and the jump back. */
	cost_before read, read_jumped, 1
	cost_after read_ok, read_done, 1
	cost_before ovf, ovf_done
	cost_after ovf_done, ovf_end
	cost_before lcofip, lcofip_done
	cost_after lcofip_done, lcofip_end
	cost_before poke, poke_done
	cost_after poke_done, poke_end
	cost_before peek, peek_done
	cost_after peek_done, peek_end
	/* A read that traps does not count. The trap handler is one jump to read_end. */
	cost_before read, read_jumped
	.dword	1 + (read_done - read_end) / 4 + (next_end - next) / 4
