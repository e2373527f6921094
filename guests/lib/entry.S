/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first instruction of a bare guest, after the RISC-V Image header. a0 = hartid, a1 = device
 * tree. It is linked for 0x80200000, to which the firmware loads it, and Tally if its VM has not
 * chosen other memory. Elsewhere it corrects the addresses in its data first.
 */
#include "guests/lib/frame.h"

	.section .text.boot, "ax"
	.option	push
	.option	norvc
	.globl	_start
_start:
	j	begin
	nop
	.quad	0x200000		/* text_offset: from the base of RAM */
	.quad	image_end - _start	/* with .bss and .noinit */
	.quad	0			/* flags: little endian */
	.word	2, 0			/* header version 0.2 */
	.quad	0
	.ascii	"RISCV\0\0\0"
	.ascii	"RSC\005"
	.word	0
	.option	pop

begin:
	csrw	sie, zero
	csrci	sstatus, 2
	la	sp, stack_top
	la	t0, bss_start
	la	t1, bss_end
1:	bgeu	t0, t1, 2f
	sd	zero, 0(t0)
	addi	t0, t0, 8
	j	1b
2:	la	t0, rela_start		/* offset, type, addend: 64 bits each */
	la	t1, rela_end
	la	t2, _start
	li	t3, 0x80200000
	sub	t2, t2, t3		/* from where it is linked to where it is */
3:	bgeu	t0, t1, 4f
	ld	t3, 0(t0)
	ld	t4, 16(t0)
	add	t3, t3, t2
	add	t4, t4, t2
	sd	t4, 0(t3)
	addi	t0, t0, 24
	j	3b
4:	csrw	sscratch, zero
	la	t0, trap_entry
	csrw	stvec, t0
	call	guest_start
5:	wfi
	j	5b

	.section .bss.stack, "aw", @nobits
	.balign	16
	.skip	32768
stack_top:
