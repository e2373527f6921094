/* SPDX-License-Identifier: Apache-2.0 */
/* Traps of S and U, and the switch to U and back. sscratch is 0 in S, and the stack of S in U. */
#include "guests/lib/frame.h"

#define SSTATUS_SPP 0x100

	.text
	.option	norvc
	.balign	4
	.globl	trap_entry
trap_entry:
	csrrw	sp, sscratch, sp
	bnez	sp, 1f
	csrr	sp, sscratch
1:	addi	sp, sp, -FRAME_SIZE
	.irp	n, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sd	x\n, (8 * \n)(sp)
	.endr
	csrrw	t0, sscratch, zero
	sd	t0, 16(sp)
	csrr	t0, sepc
	sd	t0, FRAME_PC(sp)
	csrr	t0, sstatus
	sd	t0, FRAME_STATUS(sp)
	csrr	t0, scause
	sd	t0, FRAME_CAUSE(sp)
	csrr	t0, stval
	sd	t0, FRAME_TVAL(sp)
	mv	a0, sp
	call	trap_handle
	ld	t0, FRAME_PC(sp)
	csrw	sepc, t0
	ld	t1, FRAME_STATUS(sp)
	csrw	sstatus, t1
	andi	t1, t1, SSTATUS_SPP
	bnez	t1, 2f
	addi	t0, sp, FRAME_SIZE
	csrw	sscratch, t0
2:	.irp	n, 1,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	ld	x\n, (8 * \n)(sp)
	.endr
	ld	sp, 16(sp)
	sret

	/* uint64_t user_run(entry, a0, a1): runs U code until its ecall, and returns its a0. */
	.globl	user_run
user_run:
	addi	sp, sp, -112
	sd	ra, 0(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	sd	s\n, (8 + 8 * \n)(sp)
	.endr
	la	t0, user_resume_sp
	sd	sp, 0(t0)
	csrw	sscratch, sp
	csrw	sepc, a0
	li	t0, SSTATUS_SPP
	csrc	sstatus, t0
	mv	a0, a1
	mv	a1, a2
	la	sp, user_stack_top
	sret

	/* trap_handle() calls this for an ecall from U. It returns from user_run() with a0. */
	.globl	user_leave
user_leave:
	la	t0, user_resume_sp
	ld	sp, 0(t0)
	ld	ra, 0(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	ld	s\n, (8 + 8 * \n)(sp)
	.endr
	addi	sp, sp, 112
	ret

	.section .bss.user, "aw", @nobits
	.balign	16
user_resume_sp:
	.skip	16
	.skip	4096
user_stack_top:
