/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes trapped instructions of a guest: integer loads and stores (to emulated devices), CSR
 * accesses, for RV64 with the compressed forms of C and Zcb. The functions have no side
 * effects, accept any value, and may be called on any hart.
 *
 * Floating-point, vector and atomic accesses are INSN_OTHER: a guest that uses them on a device
 * gets an exception.
 */
#ifndef ARCH_RISCV_HART_INSN_H
#define ARCH_RISCV_HART_INSN_H

#include <stdbool.h>
#include <stdint.h>

/* Whole instructions. WRS.NTO traps with hstatus.VTW, like WFI. */
#define WFI     0x10500073U
#define WRS_NTO 0x00d00073U

#define OPCODE_SYSTEM 0x73U

enum insn_kind {
	INSN_OTHER = 0, /* only .length and .implicit are valid */
	INSN_LOAD,      /* .reg = rd */
	INSN_STORE,     /* .reg = rs2 */
	INSN_CSR,       /* .reg = rd, .csr* */
};

/* The values are bits 13:12 of the instruction. */
enum insn_csr_op {
	INSN_CSR_RW = 1,
	INSN_CSR_RS = 2,
	INSN_CSR_RC = 3,
};

struct insn {
	enum insn_kind kind;
	uint8_t length; /* 2 or 4 bytes; sepc advances by it */
	uint8_t reg;    /* 0..31: rd, or rs2 of a store */
	uint8_t width;  /* load, store: 1, 2, 4 or 8 bytes */
	/* Load: true: sign-extend, false: zero-extend; no meaning for width 8. */
	bool sign_extend;
	bool implicit;       /* htinst only: the access was a VS-stage page-table walk */
	uint8_t addr_offset; /* htinst only: faulting address minus the address of the access */

	enum insn_csr_op csr_op;
	uint16_t csr;    /* CSR number, 0..0xfff */
	bool csr_imm;    /* true: .csr_src is the operand; false: it is a register number */
	uint8_t csr_src; /* 0..31: uimm or rs1 */
	bool csr_writes; /* false for RS or RC with rs1 = x0 or uimm = 0 */
};

/* Decodes an instruction as it is in memory, or in stval of a virtual-instruction exception. The
 * upper 16 bits of a compressed instruction are ignored. */
struct insn insn_decode(uint32_t raw);

/* Decodes htinst of a guest-page fault: a transformed load or store, a pseudoinstruction
 * (INSN_OTHER, implicit), or 0 and anything unknown (INSN_OTHER: the caller must read the
 * instruction from guest memory). Privileged manual, H extension, "Transformed Instruction or
 * Pseudoinstruction for mtinst or htinst". */
struct insn insn_decode_htinst(uint64_t htinst);

/*
 * The usual case without a structure: htinst is a transformed integer load or store whose address
 * is the faulting one (insn_decode_htinst() with .addr_offset 0). The other functions are only for
 * such values.
 */
#define INSN_COMPRESSED_BIT 2U /* 0: it was compressed, and the rest is its 32-bit equivalent */

static inline bool insn_is_transformed_load(uint64_t htinst)
{
	return (htinst & ~(uint64_t)(7U << 12 | 31U << 7 | INSN_COMPRESSED_BIT)) == 0x01 &&
	       (htinst >> 12 & 7) != 7;
}

static inline bool insn_is_transformed_store(uint64_t htinst)
{
	return (htinst & ~(uint64_t)(31U << 20 | 3U << 12 | INSN_COMPRESSED_BIT)) == 0x21;
}

static inline uint32_t insn_transformed_length(uint64_t htinst)
{
	return 2 + (htinst & INSN_COMPRESSED_BIT);
}

static inline uint32_t insn_transformed_width(uint64_t htinst)
{
	return 1U << (htinst >> 12 & 3);
}

static inline bool insn_transformed_is_signed(uint64_t htinst)
{
	return !(htinst >> 14 & 1);
}

static inline uint32_t insn_transformed_rd(uint64_t htinst)
{
	return htinst >> 7 & 31;
}

static inline uint32_t insn_transformed_rs2(uint64_t htinst)
{
	return htinst >> 20 & 31;
}

#endif
