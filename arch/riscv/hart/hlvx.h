/* SPDX-License-Identifier: Apache-2.0 */
/* Reads guest memory with the rights of the resident guest's instruction fetch. */
#ifndef ARCH_RISCV_HART_HLVX_H
#define ARCH_RISCV_HART_HLVX_H

/* `width` is "wu" or "hu". Under a trap_guard (arch/riscv/hart/trap.h): if it traps, value does not
 * change. A guard skips a trapping instruction of four bytes, so HLVX must not be compressed. */
#define HLVX(width, value, address)                                                                \
	__asm__ volatile(".option push\n.option norvc\n.option arch, +h\n"                         \
	                 "hlvx." width " %0, (%1)\n.option pop"                                    \
	                 : "+r"(value)                                                             \
	                 : "r"(address)                                                            \
	                 : "memory")

#endif
