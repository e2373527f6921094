/* SPDX-License-Identifier: Apache-2.0 */
/* The RISC-V Image header and the first instructions of each hart. */
#include "arch/riscv/hart/csr.h"
#include "asm_offsets.h"

	.section .head, "ax"
	.globl _start
_start:
	/* The header, see Linux Documentation/arch/riscv/boot-image-header: two instructions, then
	 * the load offset from the start of RAM, the size in memory, flags, version, magic
	 * numbers. */
	.option push
	.option norvc
	j	boot_hart
	nop
	.option pop
	.balign	8
	.dword	0x200000
	.dword	_image_end - _start
	.dword	0
	.word	2
	.word	0
	.dword	0
	.ascii	"RISCV\0\0\0"
	.ascii	"RSC\x05"
	.word	0

	.section .rodata
	.balign	8
linked_at:
	.dword	_start
elsewhere_text:
	.ascii	"tally: the platform: Tally was not loaded to the address that it is built for, "
	.ascii	"2 MiB above BOARD_RAM\n"
	.equ	ELSEWHERE_LENGTH, . - elsewhere_text

	.text
/* The firmware passes the hartid in a0 and the host device tree in a1; satp is Bare. */
boot_hart:
	lla	t0, _start
	ld	t1, linked_at
	bne	t0, t1, elsewhere
	csrw	sie, zero
	csrw	sip, zero
	csrw	CSR_SSCRATCH, zero
	la	t0, _bss_start
	la	t1, _image_end	/* includes the boot hart's stack */
1:	sd	zero, 0(t0)
	sd	zero, 8(t0)
	sd	zero, 16(t0)
	sd	zero, 24(t0)
	addi	t0, t0, 32
	bltu	t0, t1, 1b
	la	t0, trap_vector
	csrw	CSR_STVEC, t0
	la	sp, hart_stacks
	li	t0, ASM_HART_STACK_TOP
	add	sp, sp, t0
	mv	tp, zero
	call	main
1:	wfi
	j	1b

/* a0 = hartid, a1 = the host device tree. The other hart clears bss, and with it the stack of this
 * hart: nothing here may use memory from the first call on. */
	.globl boot_on_other_hart
boot_on_other_hart:
	mv	a2, a1
	la	a1, _start
	li	a7, ASM_EXT_HSM
	li	a6, ASM_HSM_HART_START
	ecall
	beqz	a0, stop_hart
	ret

/* a0 = address of the state, a1 = its new value, after which another hart may have the stack. */
	.globl hart_stop_self
hart_stop_self:
	fence	rw, w
	sw	a1, 0(a0)
	li	a7, ASM_EXT_HSM
stop_hart:
	li	a6, ASM_HSM_HART_STOP
	ecall
1:	wfi
	j	1b

/* No absolute address can be used here. */
elsewhere:
	li	a7, ASM_EXT_DBCN
	li	a6, ASM_DBCN_WRITE
	li	a0, ELSEWHERE_LENGTH
	lla	a1, elsewhere_text
	mv	a2, zero
	ecall
	j	machine_ends

/* Entry of a hart started by SBI HSM: a0 = hartid, a1 = its struct hart_start, see
 * core/boot/harts.c. */
	.globl secondary_hart
secondary_hart:
	csrw	sie, zero
	csrw	sip, zero
	csrw	CSR_SSCRATCH, zero
	/* If it is set, the boot hart has given up waiting, and another hart may have the stack. */
	li	t0, 1
	amoswap.w.aqrl	t0, t0, (a1)
	bnez	t0, 1f
	lw	a1, 4(a1)	/* its index in hart_stacks */
	la	t0, trap_vector
	csrw	CSR_STVEC, t0
	la	sp, hart_stacks
	li	t0, ASM_HART_STACK_SIZE
	mul	t0, t0, a1
	add	sp, sp, t0
	li	t0, ASM_HART_STACK_TOP
	add	sp, sp, t0
	mv	tp, zero
	call	secondary_main
1:	wfi
	j	1b
