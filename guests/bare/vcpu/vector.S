/* SPDX-License-Identifier: Apache-2.0 */
/* Vector state for marks.c and smp.c, with sstatus.VS on. */
	.option	arch, +v
	.text

/* uint64_t vec_put(const void *v): loads v0..v31 and returns the size of a register in bytes. Sets
 * vl to 5 elements of 32 bits, vxrm to 2 and vxsat to 1. */
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

/* uint64_t vec_get(void *v): stores v0..v31. Returns whether vl, vtype, vstart and vcsr are as
 * vec_put() left them. */
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
 * uint64_t vec_compute(uint64_t seed, uint64_t steps): computes with 16 elements of 64 bits: seed,
 * seed + 1, ...; steps times x = x * 6364136223846793005 + 1442695040888963407 for each. Returns
 * their sum.
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

/* void vec_set(uint64_t x): sets all 64-bit elements of v8 to x. */
	.globl	vec_set
vec_set:
	vsetivli x0, 2, e64, m1, ta, ma
	vmv.v.x	v8, a0
	ret

/* uint64_t vec_first(void): returns the first 64 bits of v8, whatever vl, vtype and vstart are,
 * which are kept. */
	.globl	vec_first
vec_first:
	csrr	t0, vstart
	csrr	t1, vl
	csrr	t2, vtype
	csrwi	vstart, 0
	vsetivli x0, 1, e64, m1, ta, ma
	vmv.x.s	a0, v8
	bltz	t2, 1f
	vsetvl	x0, t1, t2
1:	csrw	vstart, t0
	ret

/* void vec_shape_put(uint64_t n): sets vl to n elements of 16 bits, or of 8 bits if n is odd. */
	.globl	vec_shape_put
vec_shape_put:
	andi	t0, a0, 1
	bnez	t0, 1f
	vsetvli	x0, a0, e16, m1, ta, ma
	ret
1:	vsetvli	x0, a0, e8, m1, ta, ma
	ret

/* uint64_t vec_shape_get(void): returns n, or -1 if vtype is not what vec_shape_put(n) sets. */
	.globl	vec_shape_get
vec_shape_get:
	csrr	a0, vl
	csrr	t0, vtype
	andi	t1, a0, 1
	xori	t1, t1, 1
	slli	t1, t1, 3
	addi	t1, t1, 0xc0
	beq	t0, t1, 1f
	li	a0, -1
1:	ret

/* uint64_t vec_length(void): returns vl. */
	.globl	vec_length
vec_length:
	csrr	a0, vl
	ret
