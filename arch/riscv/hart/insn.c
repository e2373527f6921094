/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/insn.h"

#define OPCODE_LOAD  0x03u
#define OPCODE_STORE 0x23u

/* Returns bits hi..lo of v, right-aligned. */
static uint32_t bits(uint32_t v, unsigned int hi, unsigned int lo)
{
	return (v >> lo) & ((2u << (hi - lo)) - 1u);
}

static struct insn other(uint8_t length)
{
	return (struct insn){.kind = INSN_OTHER, .length = length};
}

static struct insn access(enum insn_kind kind, uint8_t length, uint32_t reg, uint32_t log_width,
                          bool sign_extend)
{
	return (struct insn){.kind = kind,
	                     .length = length,
	                     .reg = (uint8_t)reg,
	                     .width = (uint8_t)(1u << log_width),
	                     .sign_extend = sign_extend};
}

static struct insn decode_system(uint32_t raw)
{
	uint32_t funct3 = bits(raw, 14, 12);
	struct insn i = other(4);

	if ((funct3 & 3) == 0) /* 0: sret, wfi and the like; 4: hypervisor loads and stores */
		return i;
	i.kind = INSN_CSR;
	i.reg = (uint8_t)bits(raw, 11, 7);
	i.csr = (uint16_t)bits(raw, 31, 20);
	i.csr_op = (enum insn_csr_op)(funct3 & 3);
	i.csr_imm = (funct3 & 4) != 0;
	i.csr_src = (uint8_t)bits(raw, 19, 15);
	/* Zicsr, table 6: the forms that do not write the CSR, and so cause no side effects. */
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
		return access(INSN_LOAD, 4, bits(raw, 11, 7), funct3 & 3, funct3 < 4);
	case OPCODE_STORE: /* sb sh sw sd */
		if (funct3 > 3)
			break;
		return access(INSN_STORE, 4, bits(raw, 24, 20), funct3, false);
	case OPCODE_SYSTEM:
		return decode_system(raw);
	default:
		break;
	}
	return other(4);
}

/* The loads and stores of C and Zcb: those with `match` in the bits of `mask`. */
static const struct compressed {
	uint16_t mask, match;
	enum insn_kind kind;
	uint8_t log_width;
	bool sign_extend;
} compressed[] = {
    {0xe003, 0x4000, INSN_LOAD, 2, true},   /* c.lw */
    {0xe003, 0x6000, INSN_LOAD, 3, true},   /* c.ld */
    {0xe003, 0xc000, INSN_STORE, 2, false}, /* c.sw */
    {0xe003, 0xe000, INSN_STORE, 3, false}, /* c.sd */
    {0xfc03, 0x8000, INSN_LOAD, 0, false},  /* c.lbu */
    {0xfc43, 0x8400, INSN_LOAD, 1, false},  /* c.lhu */
    {0xfc43, 0x8440, INSN_LOAD, 1, true},   /* c.lh */
    {0xfc03, 0x8800, INSN_STORE, 0, false}, /* c.sb */
    {0xfc43, 0x8c00, INSN_STORE, 1, false}, /* c.sh */
    {0xe003, 0x4002, INSN_LOAD, 2, true},   /* c.lwsp */
    {0xe003, 0x6002, INSN_LOAD, 3, true},   /* c.ldsp */
    {0xe003, 0xc002, INSN_STORE, 2, false}, /* c.swsp */
    {0xe003, 0xe002, INSN_STORE, 3, false}, /* c.sdsp */
};

/* In quadrant 0 the register is x8..x15, in bits 4:2. In quadrant 2, whose addresses are relative
 * to sp, it has five bits, and x0 is reserved as the destination of a load. */
static struct insn decode_compressed(uint32_t raw)
{
	for (uint32_t i = 0; i < sizeof(compressed) / sizeof(compressed[0]); i++) {
		const struct compressed *c = &compressed[i];
		bool load = c->kind == INSN_LOAD;
		uint32_t reg = load ? bits(raw, 11, 7) : bits(raw, 6, 2);

		if ((raw & c->mask) != c->match)
			continue;
		if (!(raw & 3))
			reg = 8 + bits(raw, 4, 2);
		if (reg || !load)
			return access(c->kind, 2, reg, c->log_width, c->sign_extend);
	}
	return other(2);
}

struct insn insn_decode(uint32_t raw)
{
	return (raw & 3) == 3 ? decode_word(raw) : decode_compressed(raw);
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
