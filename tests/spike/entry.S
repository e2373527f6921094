/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Boot, guest entry and exit, and the code of the spike's guests. hgatp and vsatp are Bare, so
 * guests and spike have the same addresses.
 */
#define CTX_PC	     256
#define CTX_SSTATUS  264
#define CTX_HSTATUS  272
#define CTX_HOST_SP  280
#define CSR_HSTATUS  0x600

	.section .text.boot, "ax"
	.globl	_start
_start:
	la	sp, stack_top
	la	t0, bss_start
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	sd	zero, 0(t0)
	addi	t0, t0, 8
	j	1b
2:	la	t0, hs_trap
	csrw	stvec, t0
	call	spike_main
3:	wfi
	j	3b

	.text
	/*
	 * A trap of the spike's own (HS) code. Only probes may cause one. Store the cause and skip
	 * the instruction; every instruction that may trap there is four bytes long.
	 */
	.balign	4
	.globl	hs_trap
hs_trap:
	addi	sp, sp, -16
	sd	t0, 0(sp)
	sd	t1, 8(sp)
	la	t0, hs_trap_cause
	csrr	t1, scause
	sd	t1, 0(t0)
	csrr	t1, sepc
	addi	t1, t1, 4
	csrw	sepc, t1
	ld	t0, 0(sp)
	ld	t1, 8(sp)
	addi	sp, sp, 16
	sret

	/* void enter_guest(struct ctx *): returns at the next exit of the guest. */
	.globl	enter_guest
enter_guest:
	addi	sp, sp, -128
	sd	ra, 0(sp)
	sd	gp, 8(sp)
	sd	tp, 16(sp)
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	sd	s\n, (24 + 8 * \n)(sp)
	.endr
	sd	sp, CTX_HOST_SP(a0)
	csrw	sscratch, a0
	la	t0, guest_exit
	csrw	stvec, t0
	ld	t0, CTX_PC(a0)
	csrw	sepc, t0
	ld	t0, CTX_SSTATUS(a0)
	csrw	sstatus, t0
	ld	t0, CTX_HSTATUS(a0)
	csrw	CSR_HSTATUS, t0
	.irp	n, 1,2,3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	ld	x\n, (8 * \n)(a0)
	.endr
	ld	a0, 80(a0)
	sret

	.balign	4
guest_exit:
	csrrw	a0, sscratch, a0
	.irp	n, 1,2,3,4,5,6,7,8,9,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	sd	x\n, (8 * \n)(a0)
	.endr
	csrr	t0, sscratch
	sd	t0, 80(a0)
	csrr	t0, sepc
	sd	t0, CTX_PC(a0)
	csrr	t0, sstatus
	sd	t0, CTX_SSTATUS(a0)
	csrr	t0, CSR_HSTATUS
	sd	t0, CTX_HSTATUS(a0)
	ld	sp, CTX_HOST_SP(a0)
	la	t0, hs_trap
	csrw	stvec, t0
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	ld	s\n, (24 + 8 * \n)(sp)
	.endr
	ld	ra, 0(sp)
	ld	gp, 8(sp)
	ld	tp, 16(sp)
	addi	sp, sp, 128
	ret

	/* Guests: a0 rounds of two instructions, then one ecall: 2 * a0 + 1 in all. */
	.option	norvc
	.balign	16
	.globl	guest_loop
guest_loop:
1:	addi	a0, a0, -1
	bnez	a0, 1b
	ecall
	j	guest_loop

	/* The same with memory: a0 rounds of four instructions, then one ecall: 4 * a0 + 1. */
	.globl	guest_mem_loop
guest_mem_loop:
1:	ld	t0, 0(a1)
	addi	a0, a0, -1
	sd	t0, 8(a1)
	bnez	a0, 1b
	ecall
	j	guest_mem_loop

	/* One illegal instruction: a write to an unused read-only CSR number. */
	.globl	guest_illegal
guest_illegal:
	csrw	0xcff, a0
	ecall

	/* Reads hpmcounter4 twice around two instructions: a2 - a1 is 3. */
	.globl	guest_read
guest_read:
	csrr	a1, 0xc04
	nop
	nop
	csrr	a2, 0xc04
	ecall

	/* Waits for its own timer at vstimecmp = time + a0 (CSR stimecmp in VS). a1 is the time
	 * afterwards. */
	.globl	guest_timer
guest_timer:
	la	t0, 2f
	csrw	stvec, t0
	csrr	t1, time
	add	t1, t1, a0
	csrw	0x14d, t1
	li	t2, 0x20
	csrs	sie, t2
	csrsi	sstatus, 2
1:	j	1b
	.balign	4
2:	csrr	a1, time
	csrr	a2, scause
	mv	a3, t1
	ecall

	/* Counts cycles during a WFI that ends a0 ticks later, with VTW = 0. */
	.globl	guest_wfi
guest_wfi:
	csrr	t1, time
	add	t1, t1, a0
	csrw	0x14d, t1
	li	t2, 0x20
	csrs	sie, t2
	wfi
	ecall

	/* Takes a virtual LCOFI: a1 = scause, a2 = sip before, a3 = sip after the guest has cleared
	 * it. */
	.globl	guest_lcofi
guest_lcofi:
	la	t0, 2f
	csrw	stvec, t0
	li	t2, 0x2000
	csrs	sie, t2
	csrsi	sstatus, 2
1:	addi	a0, a0, 1
	j	1b
	.balign	4
2:	csrr	a1, scause
	csrr	a2, sip
	csrc	sip, t2
	csrr	a3, sip
	ecall

	.bss
	.balign	16
	.skip	16384
stack_top:
