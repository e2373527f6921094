/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/insn.h"

#define OPCODE_LOAD   0x03u
#define OPCODE_STORE  0x23u
#define OPCODE_SYSTEM 0x73u
#define WFI           0x10500073u

/* Returns bits hi..lo of v, right-aligned. */
static uint32_t bits(uint32_t v, unsigned int hi, unsigned int lo)
{
	return (v >> lo) & ((2u << (hi - lo)) - 1u);
}

static struct insn other(uint8_t length)
{
	return (struct insn){.kind = INSN_OTHER, .length = length};
}

static struct insn load(uint8_t length, uint32_t rd, unsigned int log_width, bool sign_extend)
{
	return (struct insn){.kind = INSN_LOAD,
	                     .length = length,
	                     .reg = (uint8_t)rd,
	                     .width = (uint8_t)(1u << log_width),
	                     .sign_extend = sign_extend};
}

static struct insn store(uint8_t length, uint32_t rs2, unsigned int log_width)
{
	struct insn i = load(length, rs2, log_width, false);

	i.kind = INSN_STORE;
	return i;
}

static struct insn decode_system(uint32_t raw)
{
	uint32_t funct3 = bits(raw, 14, 12);
	struct insn i = other(4);

	if (raw == WFI) {
		i.kind = INSN_WFI;
		return i;
	}
	if ((funct3 & 3) == 0) /* 0: sret, sfence and the like; 4: hypervisor loads and stores */
		return i;
	i.kind = INSN_CSR;
	i.reg = (uint8_t)bits(raw, 11, 7);
	i.csr = (uint16_t)bits(raw, 31, 20);
	i.csr_op = (enum insn_csr_op)(funct3 & 3);
	i.csr_imm = (funct3 & 4) != 0;
	i.csr_src = (uint8_t)bits(raw, 19, 15);
	/* Zicsr, table 6: the forms that do not read or do not write the CSR, and so cause none of
	 * its side effects. */
	i.csr_reads = i.csr_op != INSN_CSR_RW || i.reg != 0;
	i.csr_writes = i.csr_op == INSN_CSR_RW || i.csr_src != 0;
	return i;
}

static struct insn decode_word(uint32_t raw)
{
	uint32_t funct3 = bits(raw, 14, 12);

	switch (bits(raw, 6, 0)) {
	case OPCODE_LOAD: /* lb lh lw ld lbu lhu lwu, 7 is reserved */
		if (funct3 == 7)
			break;
		return load(4, bits(raw, 11, 7), funct3 & 3, funct3 < 4);
	case OPCODE_STORE: /* sb sh sw sd */
		if (funct3 > 3)
			break;
		return store(4, bits(raw, 24, 20), funct3);
	case OPCODE_SYSTEM:
		return decode_system(raw);
	default:
		break;
	}
	return other(4);
}

/* Quadrant 0: registers x8..x15, rd' and rs2' in bits 4:2. */
static struct insn decode_c0(uint32_t raw)
{
	uint32_t reg = 8 + bits(raw, 4, 2), funct3 = bits(raw, 15, 13);

	switch (funct3) {
	case 2: /* c.lw */
	case 3: /* c.ld */
		return load(2, reg, funct3, true);
	case 6: /* c.sw */
	case 7: /* c.sd */
		return store(2, reg, funct3 - 4);
	case 4: /* Zcb */
		break;
	default: /* c.addi4spn, and c.fld, c.fsd */
		return other(2);
	}
	switch (bits(raw, 12, 10)) {
	case 0: /* c.lbu */
		return load(2, reg, 0, false);
	case 1: /* c.lhu, c.lh */
		return load(2, reg, 1, bits(raw, 6, 6) != 0);
	case 2: /* c.sb */
		return store(2, reg, 0);
	case 3: /* c.sh; bit 6 set is reserved */
		return bits(raw, 6, 6) == 0 ? store(2, reg, 1) : other(2);
	default:
		return other(2);
	}
}

/* Quadrant 2: addresses relative to sp. */
static struct insn decode_c2(uint32_t raw)
{
	uint32_t rd = bits(raw, 11, 7);
	uint32_t rs2 = bits(raw, 6, 2), funct3 = bits(raw, 15, 13);

	switch (funct3) {
	case 2: /* c.lwsp */
	case 3: /* c.ldsp; rd = x0 is reserved in both */
		return rd != 0 ? load(2, rd, funct3, true) : other(2);
	case 6: /* c.swsp */
	case 7: /* c.sdsp */
		return store(2, rs2, funct3 - 4);
	default: /* jumps, moves, c.fldsp, c.fsdsp */
		return other(2);
	}
}

struct insn insn_decode(uint32_t raw)
{
	switch (raw & 3) {
	case 0:
		return decode_c0(raw);
	case 1: /* neither a load nor a store */
		return other(2);
	case 2:
		return decode_c2(raw);
	default:
		return decode_word(raw);
	}
}

/* Whether htinst is one of the four pseudoinstructions: read or write of a 32-bit or 64-bit
 * page-table entry. */
static bool is_pseudo(uint64_t htinst)
{
	return htinst == 0x2000 || htinst == 0x2020 || htinst == 0x3000 || htinst == 0x3020;
}

struct insn insn_decode_htinst(uint64_t htinst)
{
	uint32_t raw = (uint32_t)htinst;
	/* If bit 1 is 0, the original was compressed, and the rest is its 32-bit equivalent. */
	uint8_t length = (raw & 2) ? 4 : 2;
	struct insn i;

	if (is_pseudo(htinst)) {
		i = other(4);
		i.implicit = true;
		return i;
	}
	if ((htinst >> 32) != 0 || (raw & 1) == 0)
		return other(4);
	i = decode_word(raw | 2);
	/* The transformation clears the offset fields. If they are not 0, this is no transformed
	 * instruction. */
	if ((i.kind != INSN_LOAD || bits(raw, 31, 20) != 0) &&
	    (i.kind != INSN_STORE || bits(raw, 31, 25) != 0 || bits(raw, 11, 7) != 0))
		return other(length);
	i.length = length;
	i.addr_offset = (uint8_t)bits(raw, 19, 15);
	return i;
}
