/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring in two memories. The sender writes one of them: how many messages it has put, and from
 * byte 64 on slots of 16 bytes, each with a number and its product with the key. The receiver
 * writes the other one: how many messages it has taken. Each reads what the other one writes.
 *
 * a0 own memory, a1 the other's, a2 messages, a3 key, a4 slots, a power of two. Return in a0 how
 * often they looked in vain; the receiver in a1 how many messages were wrong. shared.c knows the
 * number of instructions of a message, and of a look in vain.
 */
	.text
	.option	norvc

	.globl	ring_send
ring_send:
	li	a5, 0
	li	t0, 0
	addi	a6, a4, -1
1:	beq	t0, a2, 4f
2:	ld	t1, 0(a1)
	sub	t1, t0, t1
	bltu	t1, a4, 3f
	addi	a5, a5, 1
	j	2b
3:	fence	r, w			/* nobody reads the slot any more */
	and	t2, t0, a6
	slli	t2, t2, 4
	add	t2, t2, a0
	mul	t3, t0, a3
	sd	t0, 64(t2)
	sd	t3, 72(t2)
	fence	w, w			/* whoever sees the new number sees the message */
	addi	t0, t0, 1
	sd	t0, 0(a0)
	j	1b
4:	mv	a0, a5
	ret

	.globl	ring_receive
ring_receive:
	li	a5, 0
	li	a7, 0
	li	t0, 0
	addi	a6, a4, -1
1:	beq	t0, a2, 4f
2:	ld	t1, 0(a1)
	bltu	t0, t1, 3f
	addi	a5, a5, 1
	j	2b
3:	fence	r, r
	and	t2, t0, a6
	slli	t2, t2, 4
	add	t2, t2, a1
	ld	t3, 64(t2)
	ld	t4, 72(t2)
	mul	t5, t0, a3
	xor	t3, t3, t0
	xor	t4, t4, t5
	or	t3, t3, t4
	snez	t3, t3
	add	a7, a7, t3
	fence	r, w			/* the slot may be used again */
	addi	t0, t0, 1
	sd	t0, 0(a0)
	j	1b
4:	mv	a0, a5
	mv	a1, a7
	ret
