/* SPDX-License-Identifier: Apache-2.0 */
/* Vector state for marks.c and smp.c, with sstatus.VS on. */
	.option	arch, +v
	.text

/* uint64_t vec_put(const void *v): v0..v31 from memory; returns bytes in a register. vl is 5 of 32-bit
 * elements then, vxrm 2 and vxsat 1. */
	.globl	vec_put
vec_put:
	csrr	t0, vlenb
	slli	t1, t0, 3
	.irp	n, 0,8,16,24
	vl8re8.v v\n, (a0)
	add	a0, a0, t1
	.endr
	vsetivli x0, 5, e32, m2, ta, mu
	csrwi	vcsr, 5
	mv	a0, t0
	ret

/* uint64_t vec_get(void *v): v0..v31 to memory; are vl, vtype, vstart and vcsr as vec_put() left them? */
	.globl	vec_get
vec_get:
	csrr	t0, vl
	addi	t0, t0, -5
	csrr	t1, vtype
	addi	t1, t1, -0x51
	or	t0, t0, t1
	csrr	t1, vcsr
	addi	t1, t1, -5
	or	t0, t0, t1
	csrr	t1, vstart
	or	t0, t0, t1
	csrr	t1, vlenb
	slli	t1, t1, 3
	.irp	n, 0,8,16,24
	vs8r.v	v\n, (a0)
	add	a0, a0, t1
	.endr
	seqz	a0, t0
	ret

/*
 * uint64_t vec_compute(uint64_t seed, uint64_t steps): 16 elements of 64 bits, seed, seed + 1, ...;
 * each steps times x = x * 6364136223846793005 + 1442695040888963407; the sum of all.
 */
	.globl	vec_compute
vec_compute:
	li	t0, 16
	vsetvli	x0, t0, e64, m8, ta, ma
	vid.v	v8
	vadd.vx	v8, v8, a0
	li	t0, 6364136223846793005
	li	t1, 1442695040888963407
	vmv.v.x	v16, t1
1:	vmadd.vx v8, t0, v16
	addi	a1, a1, -1
	bnez	a1, 1b
	vmv.s.x	v24, x0
	vredsum.vs v24, v8, v24
	vmv.x.s	a0, v24
	ret
