/* SPDX-License-Identifier: Apache-2.0 */
/* For a machine that has no device tree, and starts all harts where -bios says: gives OpenSBI's
 * fw_dynamic.bin at the start of RAM the tree and the address of Tally. Runs in M-mode, at any
 * address; the tree is loaded 4096 bytes behind its beginning. */
	.section .text
	.globl	_start
_start:
	csrr	a0, mhartid
	lla	a1, _start + 4096
	lla	a2, info
	li	t0, 1 << 31
	jr	t0

/* struct fw_dynamic_info of OpenSBI: magic, version, next stage, its mode (S), options, boot hart.
 * Where any hart may be that one, a hart that comes late to OpenSBI 1.5.1 waits for ever. */
	.balign	8
info:
	.dword	0x4942534f, 2, (1 << 31) + (2 << 20), 1, 0, 0
