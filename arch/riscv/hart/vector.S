/* SPDX-License-Identifier: Apache-2.0 */
/* Vector state. Only if the hart has V, and while sstatus.VS is on. */

	.option	arch, +v
	.text

/* uint64_t vec_bytes(void): returns the size of a vector register in bytes. */
	.globl	vec_bytes
vec_bytes:
	csrr	a0, vlenb
	ret

/*
 * void vec_save(void *v, uint64_t csrs[4]): saves v0..v31, and vstart, vtype, vl, vcsr.
 * Whole-register moves ignore vtype, but begin at element vstart, so vstart must be 0 first.
 */
	.globl	vec_save
vec_save:
	csrr	t0, vstart
	sd	t0, 0(a1)
	csrr	t0, vtype
	sd	t0, 8(a1)
	csrr	t0, vl
	sd	t0, 16(a1)
	csrr	t0, vcsr
	sd	t0, 24(a1)
	csrw	vstart, x0
	csrr	t0, vlenb
	slli	t0, t0, 3
	.irp	n, 0,8,16,24
	vs8r.v	v\n, (a0)
	add	a0, a0, t0
	.endr
	ret

/* void vec_restore(const void *v, const uint64_t csrs[4]) */
	.globl	vec_restore
vec_restore:
	csrw	vstart, x0
	csrr	t0, vlenb
	slli	t0, t0, 3
	.irp	n, 0,8,16,24
	vl8re8.v v\n, (a0)
	add	a0, a0, t0
	.endr
	ld	t0, 8(a1)
	ld	t1, 16(a1)
	vsetvl	x0, t1, t0
	ld	t0, 24(a1)
	csrw	vcsr, t0
	ld	t0, 0(a1)
	csrw	vstart, t0
	ret
