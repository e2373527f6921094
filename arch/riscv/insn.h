/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoder of a trapped instruction of a guest: integer loads and stores (emulated devices), CSR
 * accesses and WFI. RV64, with the compressed forms of C and Zcb. Pure, no side effects, any 32-bit
 * value is accepted; whoever calls.
 *
 * Floating-point, vector and atomic accesses are INSN_OTHER: a guest that uses them on a device
 * gets an exception.
 */
#ifndef ARCH_RISCV_INSN_H
#define ARCH_RISCV_INSN_H

#include <stdbool.h>
#include <stdint.h>

enum insn_kind {
	INSN_OTHER = 0, /* only .length (and .implicit) mean something */
	INSN_LOAD,      /* .reg = rd */
	INSN_STORE,     /* .reg = rs2 */
	INSN_CSR,       /* .reg = rd, .csr* */
	INSN_WFI,
};

/* Values are bits 13:12 of the instruction. */
enum insn_csr_op {
	INSN_CSR_RW = 1,
	INSN_CSR_RS = 2,
	INSN_CSR_RC = 3,
};

struct insn {
	enum insn_kind kind;
	uint8_t length;      /* bytes: 2 or 4, what sepc advances by */
	uint8_t reg;         /* x0..x31: rd, or rs2 of a store */
	uint8_t width;       /* load, store: bytes, 1, 2, 4 or 8 */
	bool sign_extend;    /* load: else zero-extend (meaningless for width 8) */
	bool implicit;       /* htinst only: the access was the page-table walk of VS-stage */
	uint8_t addr_offset; /* htinst only: faulting address minus the address of the access */

	enum insn_csr_op csr_op;
	uint16_t csr;    /* number, 0..0xfff */
	bool csr_imm;    /* the operand is .csr_src itself, else the register of that number */
	uint8_t csr_src; /* 0..31: uimm or rs1 */
	bool csr_reads;  /* false: RW with rd = x0 */
	bool csr_writes; /* false: RS or RC with rs1 = x0 or uimm = 0 */
};

/* raw: the instruction as it stands in memory (or in stval of a virtual-instruction exception),
 * little endian; of a compressed one the upper 16 bits are ignored. */
struct insn insn_decode(uint32_t raw);

/* htinst of a guest-page-fault: a transformed load or store, a pseudoinstruction (OTHER, implicit),
 * or 0 and anything unknown (OTHER: the instruction must be read from the guest's memory instead).
 * Privileged ISA, H extension, "Transformed Instruction or Pseudoinstruction for mtinst or
 * htinst". */
struct insn insn_decode_htinst(uint64_t htinst);

#endif
