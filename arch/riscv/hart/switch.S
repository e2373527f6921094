/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches from VS/VU into HS and back. This is the only code that handles a guest's registers.
 *
 * sscratch is the struct guest_context of the resident vcpu while a guest runs, and 0 in HS. So the
 * trap vector can distinguish a trap in HS from an exit.
 *
 * An SBI call saves only registers that C may clobber and that must not change for the guest.
 * s0..s11, and gp and t2..t6 (which no C code of Tally uses) stay in their registers, and a0 and a1
 * are the results of the call. A trapped CSR read does the same, and writes its value into the
 * register that it names; so do a counter overflow and an access to an emulated device. All other
 * exits take the slow path, which saves all registers and may enter another vcpu. While a vcpu is
 * served, tp points to its context.
 */
#include "arch/riscv/hart/csr.h"
#include "asm_offsets.h"

#define X(n) (CTX_X + 8 * (n))(tp)

/* Accounts this stay, after an exit of this kind. Clobbers t0, t1, a2 and a4. If the stay is the
 * longest one or is recorded, it calls stay_record() and clobbers everything that C may clobber
 * except a3 and, after an SBI call, a0 and a1. */
	.macro	account_stay exit
	csrr	t0, CSR_INSTRET
	ld	t1, ASM_HART_STAY(sp)
	ld	a4, (CTX_HS_INSNS + 8 * \exit)(tp)
	ld	a2, CTX_HS_LONGEST(tp)
	sub	t0, t0, t1
	add	a4, a4, t0
	sd	a4, (CTX_HS_INSNS + 8 * \exit)(tp)
	bltu	a2, t0, longest_\exit
accounted_\exit:
	.endm

	.macro	longest exit
longest_\exit:
	sd	a3, X(0)
	.if	\exit == ASM_EXIT_ECALL
	sd	a0, X(10)
	sd	a1, X(11)
	.endif
	mv	a0, tp
	li	a1, \exit
	mv	a2, t0
	call	stay_record
	.if	\exit == ASM_EXIT_ECALL
	ld	a0, X(10)
	ld	a1, X(11)
	.endif
	ld	a3, X(0)
	sd	zero, X(0)
	j	accounted_\exit
	.endm

/* Saves the registers that C may clobber, except a0 and a1. t0 is scause less CAUSE_ECALL_VS. */
	.macro	save_for_c
	sd	t0, X(5)
	csrr	t0, CSR_SCAUSE
	addi	t0, t0, -CAUSE_ECALL_VS
	.irp	n, 1,2,6,12,13,14,15,16,17
	sd	x\n, X(\n)
	.endr
	csrrw	t1, CSR_SSCRATCH, zero
	sd	t1, X(4)
	.endm

/* After save_for_c: calls a function without arguments. a0 to a7 and t0 are as before. */
	.macro	call_aside function
	sd	a0, X(10)
	sd	a1, X(11)
	call	\function
	.irp	n, 0,1,2,3,4,5,6,7
	ld	a\n, (CTX_X + 8 * (10 + \n))(tp)
	.endr
	csrr	t0, CSR_SCAUSE
	addi	t0, t0, -CAUSE_ECALL_VS
	.endm

/* make DEBUG=1 */
	.macro	check function
#ifdef TALLY_DEBUG
	call_aside \function
#endif
	.endm

/* 8 bytes of code for each register: loads it from the context (ld), or stores it there (sd),
 * unless the fast paths save it anyway. */
	.macro	register_table op then
	.option	push
	.option	norvc
	sd	zero, X(0)
	j	\then
	.irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	.if	\n == 3 || (\n >= 7 && \n <= 9) || \n >= 18
	\op	x\n, X(\n)
	j	\then
	.else
	j	\then
	nop
	.endif
	.endr
	.option	pop
	.endm

	.text
	/* The vector of a hart whose exits are recorded (trap_record()). record_exit() comes before
	 * the stay begins. C preserves s0, which the context needs for samples of call chains. */
	.balign	4
	.globl	trap_vector_recorded
trap_vector_recorded:
	csrrw	tp, CSR_SSCRATCH, tp
	beqz	tp, hs_trap
	save_for_c
	sd	s0, X(8)
	ld	sp, CTX_HS_SP(tp)
	/* Only samples of call chains? */
	ld	t1, 8(sp)
	beqz	t1, 1f
	call_aside record_exit
	j	1f

	.balign	4
	.globl	trap_vector
trap_vector:
	csrrw	tp, CSR_SSCRATCH, tp
	beqz	tp, hs_trap
	save_for_c
1:
	csrr	t1, CSR_INSTRET
	ld	sp, CTX_HS_SP(tp)
	sd	t1, ASM_HART_STAY(sp)
2:	check	check_exit
	bnez	t0, no_ecall

	/* An SBI call: its arguments a0..a7 are those of the C function, and its results a0 and a1
	 * are those of the guest, which continues after the call. */
	csrr	t0, CSR_SEPC
	addi	t0, t0, 4
	csrw	CSR_SEPC, t0
	/* As in vsbi_find(): a slot is the extension's id, then its functions. */
	ld	t1, CTX_CALLS(tp)
	andi	t0, a7, ASM_VSBI_SLOTS - 1
	slli	t0, t0, 7
	add	t1, t1, t0
	ld	t0, 0(t1)
	bne	t0, a7, nobody
	li	t0, ASM_VSBI_FUNCTIONS
	bgeu	a6, t0, nobody
	slli	t0, a6, 3
	add	t1, t1, t0
	ld	t1, 8(t1)
	jalr	t1
served:
	/* The hart's pending word is at the top of the stack. */
	ld	t0, 0(sp)
	ld	t1, CTX_ECALLS(tp)
	addi	t1, t1, 1
	sd	t1, CTX_ECALLS(tp)
	bnez	t0, after_ecall

	account_stay ASM_EXIT_ECALL
leave_fast:
	check	check_entry
	csrw	CSR_SSCRATCH, tp
	.irp	n, 1,2,5,6,12,13,14,15,16,17
	ld	x\n, X(\n)
	.endr
	ld	tp, X(4)
	sret

nobody:
	call	vsbi_not_supported
	j	served
	longest ASM_EXIT_ECALL
	longest ASM_EXIT_CSR
	longest ASM_EXIT_LCOFI
	longest ASM_EXIT_MMIO

no_ecall:
	sd	a0, X(10)
	sd	a1, X(11)
	addi	t0, t0, CAUSE_ECALL_VS - CAUSE_VIRTUAL_INSN
	bnez	t0, no_csr
	/* stval is 0 for WRS.NTO on QEMU. */
	csrr	a1, CSR_STVAL
	beqz	a1, long_way
	call	csr_read_fast
	bltz	a0, no_read

	/* Register a0 / 8 has a new value in the context. leave_fast loads it, or an entry of the
	 * table below, which restores x0 and loads registers that this path does not save. */
2:	auipc	a3, %pcrel_hi(into_register)
	add	a3, a3, a0
	account_stay ASM_EXIT_CSR
	ld	a0, X(10)
	ld	a1, X(11)
	jr	%pcrel_lo(2b)(a3)
into_register:
	register_table ld leave_fast

no_read:
	/* ASM_CSR_READ_PENDING less 8 times a register: the register has its new value, but the
	 * hart has other work. */
	addi	t0, a0, -ASM_CSR_READ_PENDING
	bgtz	t0, long_way
	li	a1, ~ASM_EXIT_CSR
	neg	a0, t0
register_first:
	lla	a3, into_register_first
	add	a3, a3, a0
	jr	a3
into_register_first:
	register_table ld save_the_rest

no_csr:
	/* A counter overflow? The shift removes the interrupt bit from the cause. */
	addi	t0, t0, CAUSE_VIRTUAL_INSN
	bgez	t0, no_interrupt
	slli	t0, t0, 1
	addi	t0, t0, -2 * IRQ_LCOFI
	bnez	t0, long_way
	call	lcofi_fast
	ld	t0, 0(sp)
	bnez	t0, after_lcofi
	account_stay ASM_EXIT_LCOFI
	ld	a0, X(10)
	ld	a1, X(11)
	j	leave_fast

no_interrupt:
	/* An access to an emulated device? htinst names the register. If this path does not save
	 * that register, a store puts it into the context first. */
	addi	t0, t0, -CAUSE_LOAD_GUEST_PAGE
	csrr	a0, CSR_HTINST
	bnez	t0, no_load
	call	mmio_load
	bltz	a0, long_way
accessed:
	ld	t0, 0(sp)
	bnez	t0, after_access
2:	auipc	a3, %pcrel_hi(into_register)
	add	a3, a3, a0
	account_stay ASM_EXIT_MMIO
	ld	a0, X(10)
	ld	a1, X(11)
	jr	%pcrel_lo(2b)(a3)
no_load:
	addi	t0, t0, CAUSE_LOAD_GUEST_PAGE - CAUSE_STORE_GUEST_PAGE
	bnez	t0, long_way
	srli	t0, a0, 20 - 3
	andi	t0, t0, 31 * 8
2:	auipc	t1, %pcrel_hi(out_of_register)
	add	t1, t1, t0
	jr	%pcrel_lo(2b)(t1)
out_of_register:
	register_table sd from_register
from_register:
	call	mmio_store
	bgez	a0, accessed
	j	long_way

/* The call is served, but the hart has other work. C has preserved s0..s11 and gp. */
after_ecall:
	sd	a0, X(10)
	sd	a1, X(11)
	li	a1, ~ASM_EXIT_ECALL
	j	save_the_rest
after_lcofi:
	li	a1, ~ASM_EXIT_LCOFI
	j	save_the_rest
after_access:
	li	a1, ~ASM_EXIT_MMIO
	j	register_first
long_way:
	csrr	a1, CSR_SCAUSE
save_the_rest:
	.irp	n, 3,7,8,9,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sd	x\n, X(\n)
	.endr
	mv	a0, tp
	mv	s0, zero
	mv	ra, zero
	tail	exit_slow	/* ends in enter_guest() */

/* _Noreturn void enter_guest(struct guest_context *) */
	.globl	enter_guest
enter_guest:
	mv	tp, a0
#ifdef TALLY_DEBUG
	call	check_entry
#endif
	csrw	CSR_SSCRATCH, tp
	.irp	n, 1,2,3,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	ld	x\n, X(\n)
	.endr
	ld	tp, X(4)
	sret

/*
 * A trap in HS. Either a trap_guard expects it: then skip the instruction, and store the cause in
 * the second of the two words at the lowest address of the hart's memory. Or it is a bug of Tally.
 * The stack may be full, so nothing is pushed. sscratch holds tp meanwhile.
 */
hs_trap:
	lla	tp, _stacks_start
	bltu	sp, tp, unexpected
	lla	tp, _stacks_end
	bgeu	sp, tp, unexpected
	li	tp, -ASM_HART_STACK_SIZE
	and	tp, sp, tp
	sd	t0, ASM_TRAP_T0(tp)
	ld	t0, 0(tp)
	beqz	t0, unexpected
	csrr	t0, CSR_SCAUSE
	sd	t0, 8(tp)
	csrr	t0, CSR_SEPC
	addi	t0, t0, 4
	csrw	CSR_SEPC, t0
	ld	t0, ASM_TRAP_T0(tp)
	csrrw	tp, CSR_SSCRATCH, zero
	sret
unexpected:
	csrr	a0, CSR_SCAUSE
	csrr	a1, CSR_SEPC
	csrr	a2, CSR_STVAL
	mv	a3, sp
	csrw	CSR_SSCRATCH, zero
	lla	a5, trap_in_hs
	j	last_words

/* For -fstack-protector-strong, in Tally and in libfdt. */
	.globl	__stack_chk_fail
__stack_chk_fail:
	mv	a0, ra
	lla	a5, stack_smashed

/* Calls a5 on the trap stack of this hart, with its arguments in a0 to a3. A hart that comes here a
 * second time ends the machine without a message. */
last_words:
	lla	t0, _stacks_start
	bltu	sp, t0, 1f
	lla	a4, _stacks_end
	bgeu	sp, a4, 1f
	li	t0, -ASM_HART_STACK_SIZE
	and	t0, sp, t0
1:	ld	a4, ASM_TRAP_PANICKING(t0)
	bnez	a4, machine_ends
	li	a4, 1
	sd	a4, ASM_TRAP_PANICKING(t0)
	li	a4, ASM_HART_STACK_GUARD
	add	sp, t0, a4
	jr	a5
	.globl	machine_ends
machine_ends:
	li	a7, ASM_EXT_SRST
	li	a6, 0
	li	a0, ASM_SRST_SHUTDOWN
	li	a1, ASM_SRST_SYSFAIL
	ecall
1:	wfi
	j	1b

/* void fp_save(uint64_t fp[33]): saves f0..f31, then fcsr. fp_exchange(to_save, to_load) and
 * fp_restore(to_load) use the same layout. */
	.macro	save_all_fp
	.irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fsd	f\n, (8 * \n)(a0)
	.endr
	frcsr	t0
	sd	t0, 256(a0)
	.endm
	.globl	fp_save
fp_save:
	save_all_fp
	ret
	.globl	fp_exchange
fp_exchange:
	save_all_fp
	mv	a0, a1
	/* fall through */
	.globl	fp_restore
fp_restore:
	.irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	fld	f\n, (8 * \n)(a0)
	.endr
	ld	t0, 256(a0)
	fscsr	t0
	ret
