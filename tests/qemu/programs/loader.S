/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loader that leaves a device in use: it makes an RTC interrupt by an alarm in the past, and
 * starts Tally, which QEMU has loaded to where it runs.
 */
	.globl _start
_start:
	li	t0, 0x101000
	li	t1, 1
	sw	t1, 0x10(t0)	/* the interrupt is enabled */
	sw	zero, 0x0c(t0)
	sw	zero, 0x08(t0)	/* the alarm */
	li	t0, 0x80200000
	jr	t0
