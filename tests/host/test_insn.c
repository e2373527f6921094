/* SPDX-License-Identifier: Apache-2.0 */
/* The decoder against words that an assembler made, and against a naive table of masks over all
 * compressed and many random words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "arch/riscv/hart/insn.h"

#define RANDOM_WORDS 10000000u

#define MEM(k, l, r, w, s)                                                                         \
	{                                                                                          \
		.kind = (k), .length = (l), .reg = (r), .width = (w), .sign_extend = (s)           \
	}
#define LD(l, r, w, s) MEM(INSN_LOAD, l, r, w, s)
#define ST(l, r, w)    MEM(INSN_STORE, l, r, w, false)
#define OTHER(l)                                                                                   \
	{                                                                                          \
		.kind = INSN_OTHER, .length = (l)                                                  \
	}
#define CSR(op, imm, rd, num, src, wrs)                                                            \
	{                                                                                          \
		.kind = INSN_CSR, .length = 4, .reg = (rd), .csr_op = INSN_CSR_##op, .csr = (num), \
		.csr_imm = (imm), .csr_src = (src), .csr_writes = (wrs)                            \
	}

struct expectation {
	uint64_t raw;
	const char *text;
	struct insn insn;
};

/* What riscv64-linux-gnu-as makes of each text. Zcb, which it does not know, is by hand. */
static const struct expectation table[] = {
    {0x00058503, "lb a0, 0(a1)", LD(4, 10, 1, true)},
    {0xffc41f83, "lh t6, -4(s0)", LD(4, 31, 2, true)},
    {0x00812003, "lw zero, 8(sp)", LD(4, 0, 4, true)},
    {0x7ff2b083, "ld ra, 2047(t0)", LD(4, 1, 8, true)},
    {0x8007cd83, "lbu s11, -2048(a5)", LD(4, 27, 1, false)},
    {0x0026d703, "lhu a4, 2(a3)", LD(4, 14, 2, false)},
    {0x0043e303, "lwu t1, 4(t2)", LD(4, 6, 4, false)},
    {0x0005f503, "reserved load", OTHER(4)},
    {0x00a58023, "sb a0, 0(a1)", ST(4, 10, 1)},
    {0xfff41e23, "sh t6, -4(s0)", ST(4, 31, 2)},
    {0x7e01afa3, "sw zero, 2047(gp)", ST(4, 0, 4)},
    {0x80123023, "sd ra, -2048(tp)", ST(4, 1, 8)},
    {0x00a5c023, "reserved store", OTHER(4)},
    {0x0005a507, "flw fa0, 0(a1)", OTHER(4)},
    {0x0005b507, "fld fa0, 0(a1)", OTHER(4)},
    {0x00a5a027, "fsw fa0, 0(a1)", OTHER(4)},
    {0x00a5b027, "fsd fa0, 0(a1)", OTHER(4)},
    {0x30059573, "csrrw a0, mstatus, a1", CSR(RW, false, 10, 0x300, 11, true)},
    {0x14059073, "csrrw x0, sscratch, a1", CSR(RW, false, 0, 0x140, 11, true)},
    {0xc0002573, "csrrs a0, cycle, x0", CSR(RS, false, 10, 0xc00, 0, false)},
    {0xda002373, "csrrs t1, scountovf, x0", CSR(RS, false, 6, 0xda0, 0, false)},
    {0x1446b673, "csrrc a2, sip, a3", CSR(RC, false, 12, 0x144, 13, true)},
    {0x1446b073, "csrrc x0, sip, a3", CSR(RC, false, 0, 0x144, 13, true)},
    {0x001fd573, "csrrwi a0, fflags, 31", CSR(RW, true, 10, 0x001, 31, true)},
    {0x00105073, "csrrwi x0, fflags, 0", CSR(RW, true, 0, 0x001, 0, true)},
    {0x10406573, "csrrsi a0, sie, 0", CSR(RS, true, 10, 0x104, 0, false)},
    {0x10416573, "csrrsi a0, sie, 2", CSR(RS, true, 10, 0x104, 2, true)},
    {0x1040f073, "csrrci x0, sie, 1", CSR(RC, true, 0, 0x104, 1, true)},
    {0xfff312f3, "csrrw t0, 0xfff, t1", CSR(RW, false, 5, 0xfff, 6, true)},
    {0x10500073, "wfi", OTHER(4)},
    {0x105000f3, "wfi with rd = x1", OTHER(4)},
    {0x00000073, "ecall", OTHER(4)},
    {0x00100073, "ebreak", OTHER(4)},
    {0x10200073, "sret", OTHER(4)},
    {0x30200073, "mret", OTHER(4)},
    {0x12b50073, "sfence.vma a0, a1", OTHER(4)},
    {0x62000073, "hfence.gvma", OTHER(4)},
    {0x6805c573, "hlv.w a0, (a1)", OTHER(4)},
    {0x6ea5c073, "hsv.d a0, (a1)", OTHER(4)},
    {0x1005a52f, "lr.w a0, (a1)", OTHER(4)},
    {0x18c5b52f, "sc.d a0, a2, (a1)", OTHER(4)},
    {0x00c5a52f, "amoadd.w a0, a2, (a1)", OTHER(4)},
    {0x00c58533, "add a0, a1, a2", OTHER(4)},
    {0x000000ef, "jal ra, .", OTHER(4)},
    {0x0000100f, "fence.i", OTHER(4)},
    {0x41c8, "c.lw a0, 4(a1)", LD(2, 10, 4, true)},
    {0x5c7c, "c.lw a5, 124(s0)", LD(2, 15, 4, true)},
    {0x6690, "c.ld a2, 8(a3)", LD(2, 12, 8, true)},
    {0xc304, "c.sw s1, 0(a4)", ST(2, 9, 4)},
    {0xffe0, "c.sd s0, 248(a5)", ST(2, 8, 8)},
    {0x5ffe, "c.lwsp t6, 252(sp)", LD(2, 31, 4, true)},
    {0x70fe, "c.ldsp ra, 504(sp)", LD(2, 1, 8, true)},
    {0x4002, "c.lwsp zero, reserved", OTHER(2)},
    {0x6002, "c.ldsp zero, reserved", OTHER(2)},
    {0xc002, "c.swsp zero, 0(sp)", ST(2, 0, 4)},
    {0xfffe, "c.sdsp t6, 504(sp)", ST(2, 31, 8)},
    {0x8188, "c.lbu a0, 0(a1)", LD(2, 10, 1, false)},
    {0x87fc, "c.lh a5, 2(a5)", LD(2, 15, 2, true)},
    {0x8424, "c.lhu s1, 2(s0)", LD(2, 9, 2, false)},
    {0x88e0, "c.sb s0, 3(s1)", ST(2, 8, 1)},
    {0x8dac, "c.sh a1, 2(a1)", ST(2, 11, 2)},
    {0x8dec, "c.sh with bit 6, reserved", OTHER(2)},
    {0x2188, "c.fld fa0, 0(a1)", OTHER(2)},
    {0xa188, "c.fsd fa0, 0(a1)", OTHER(2)},
    {0x2502, "c.fldsp fa0, 0(sp)", OTHER(2)},
    {0xa02a, "c.fsdsp fa0, 0(sp)", OTHER(2)},
    {0x0028, "c.addi4spn a0, sp, 8", OTHER(2)},
    {0x0000, "all zero, illegal", OTHER(2)},
    {0x0505, "c.addi a0, 1", OTHER(2)},
    {0xa001, "c.j .", OTHER(2)},
    {0x852e, "c.mv a0, a1", OTHER(2)},
    {0x8082, "c.jr ra", OTHER(2)},
    {0x9002, "c.ebreak", OTHER(2)},
    {0xdead41c8, "c.lw a0, 4(a1) and what follows it", LD(2, 10, 4, true)},
};

#define OFFSET(i, o)                                                                               \
	{                                                                                          \
		.kind = (i), .length = 4, .reg = 10, .width = 8, .sign_extend = (i) == INSN_LOAD,  \
		.addr_offset = (o)                                                                 \
	}
#define IMPLICIT                                                                                   \
	{                                                                                          \
		.kind = INSN_OTHER, .length = 4, .implicit = true                                  \
	}

static const struct expectation htinst_table[] = {
    {0x00000503, "lb a0", LD(4, 10, 1, true)},
    {0x00001f83, "lh t6", LD(4, 31, 2, true)},
    {0x00002003, "lw zero", LD(4, 0, 4, true)},
    {0x00003083, "ld ra", LD(4, 1, 8, true)},
    {0x00004d83, "lbu s11", LD(4, 27, 1, false)},
    {0x00005703, "lhu a4", LD(4, 14, 2, false)},
    {0x00006303, "lwu t1", LD(4, 6, 4, false)},
    {0x00a00023, "sb a0", ST(4, 10, 1)},
    {0x01f01023, "sh t6", ST(4, 31, 2)},
    {0x00002023, "sw zero", ST(4, 0, 4)},
    {0x00103023, "sd ra", ST(4, 1, 8)},
    {0x00002501, "c.lw a0", LD(2, 10, 4, true)},
    {0x00003601, "c.ld a2", LD(2, 12, 8, true)},
    {0x00902021, "c.sw s1", ST(2, 9, 4)},
    {0x00803021, "c.sd s0", ST(2, 8, 8)},
    {0x00004501, "c.lbu a0", LD(2, 10, 1, false)},
    {0x00001781, "c.lh a5", LD(2, 15, 2, true)},
    {0x0003b503, "ld a0, 7 bytes into it", OFFSET(INSN_LOAD, 7)},
    {0x00a0b023, "sd a0, 1 byte into it", OFFSET(INSN_STORE, 1)},
    {0x00002000, "read of a 32-bit page-table entry", IMPLICIT},
    {0x00002020, "write of a 32-bit page-table entry", IMPLICIT},
    {0x00003000, "read of a 64-bit page-table entry", IMPLICIT},
    {0x00003020, "write of a 64-bit page-table entry", IMPLICIT},
    {0x00000000, "nothing known", OTHER(4)},
    {0x00001000, "no pseudoinstruction", OTHER(4)},
    {0x100003003, "more than 32 bits", OTHER(4)},
    {0x100003000, "more than 32 bits", OTHER(4)},
    {0xfffffffffffff000, "more than 32 bits", OTHER(4)},
    {0x00100503, "lb with an offset: not transformed", OTHER(4)},
    {0x02a00023, "sb with an offset: not transformed", OTHER(4)},
    {0x00a000a3, "sb with an offset: not transformed", OTHER(4)},
    {0x00007503, "reserved load", OTHER(4)},
    {0x00002507, "flw fa0", OTHER(4)},
    {0x00003505, "c.fld fa0", OTHER(2)},
    {0x00a03025, "c.fsd fa0", OTHER(2)},
    {0x1000252f, "lr.w a0", OTHER(4)},
    {0x00c0252f, "amoadd.w a0, a2", OTHER(4)},
    {0x68004573, "hlv.w a0", OTHER(4)},
    {0xc0002573, "csrrs a0, cycle, x0", OTHER(4)},
    {0x10500073, "wfi", OTHER(4)},
};

static void assert_insn(const char *text, struct insn got, struct insn want)
{
	if (got.kind != want.kind || got.length != want.length || got.reg != want.reg ||
	    got.width != want.width || got.sign_extend != want.sign_extend ||
	    got.implicit != want.implicit || got.addr_offset != want.addr_offset ||
	    got.csr_op != want.csr_op || got.csr != want.csr || got.csr_imm != want.csr_imm ||
	    got.csr_src != want.csr_src || got.csr_writes != want.csr_writes)
		fail_msg("%s: kind %d length %u reg %u width %u sign %d csr %x op %d src %u", text,
		         got.kind, got.length, got.reg, got.width, got.sign_extend, got.csr,
		         got.csr_op, got.csr_src);
}

static void assembled_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		assert_insn(table[i].text, insn_decode((uint32_t)table[i].raw), table[i].insn);
}

static void transformed_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(htinst_table) / sizeof(htinst_table[0]); i++)
		assert_insn(htinst_table[i].text, insn_decode_htinst(htinst_table[i].raw),
		            htinst_table[i].insn);
}

/* An encoding: (word & mask) == match, with the register's lowest bit at reg_lo. not_x0: a form
 * whose register may not be x0. The first line that fits decides. */
struct form {
	uint32_t mask, match;
	enum insn_kind kind;
	uint8_t reg_lo;
	bool prime; /* 3-bit register field for x8..x15 */
	bool not_x0;
	uint8_t width;
	bool sign;
};

static const struct form forms[] = {
    {0xfc03, 0x8000, INSN_LOAD, 2, true, false, 1, false}, /* c.lbu */
    {0xfc43, 0x8400, INSN_LOAD, 2, true, false, 2, false}, /* c.lhu */
    {0xfc43, 0x8440, INSN_LOAD, 2, true, false, 2, true},  /* c.lh */
    {0xfc03, 0x8800, INSN_STORE, 2, true, false, 1, false},
    {0xfc43, 0x8c00, INSN_STORE, 2, true, false, 2, false},
    {0xe003, 0x4000, INSN_LOAD, 2, true, false, 4, true},
    {0xe003, 0x6000, INSN_LOAD, 2, true, false, 8, true},
    {0xe003, 0xc000, INSN_STORE, 2, true, false, 4, false},
    {0xe003, 0xe000, INSN_STORE, 2, true, false, 8, false},
    {0xe003, 0x4002, INSN_LOAD, 7, false, true, 4, true},
    {0xe003, 0x6002, INSN_LOAD, 7, false, true, 8, true},
    {0xe003, 0xc002, INSN_STORE, 2, false, false, 4, false},
    {0xe003, 0xe002, INSN_STORE, 2, false, false, 8, false},
    {0x707f, 0x0003, INSN_LOAD, 7, false, false, 1, true},
    {0x707f, 0x1003, INSN_LOAD, 7, false, false, 2, true},
    {0x707f, 0x2003, INSN_LOAD, 7, false, false, 4, true},
    {0x707f, 0x3003, INSN_LOAD, 7, false, false, 8, true},
    {0x707f, 0x4003, INSN_LOAD, 7, false, false, 1, false},
    {0x707f, 0x5003, INSN_LOAD, 7, false, false, 2, false},
    {0x707f, 0x6003, INSN_LOAD, 7, false, false, 4, false},
    {0x707f, 0x0023, INSN_STORE, 20, false, false, 1, false},
    {0x707f, 0x1023, INSN_STORE, 20, false, false, 2, false},
    {0x707f, 0x2023, INSN_STORE, 20, false, false, 4, false},
    {0x707f, 0x3023, INSN_STORE, 20, false, false, 8, false},
    {0x707f, 0x1073, INSN_CSR, 7, false, false, 0, false},
    {0x707f, 0x2073, INSN_CSR, 7, false, false, 0, false},
    {0x707f, 0x3073, INSN_CSR, 7, false, false, 0, false},
    {0x707f, 0x5073, INSN_CSR, 7, false, false, 0, false},
    {0x707f, 0x6073, INSN_CSR, 7, false, false, 0, false},
    {0x707f, 0x7073, INSN_CSR, 7, false, false, 0, false},
};

static struct insn naive(uint32_t raw)
{
	struct insn i = {.kind = INSN_OTHER, .length = (raw & 3) == 3 ? 4 : 2};

	for (size_t n = 0; n < sizeof(forms) / sizeof(forms[0]); n++) {
		const struct form *f = &forms[n];
		uint32_t reg = raw >> f->reg_lo;

		if ((raw & f->mask) != f->match)
			continue;
		reg = f->prime ? (reg & 7) + 8 : reg & 31;
		if (f->not_x0 && reg == 0)
			break;
		i.kind = f->kind;
		i.width = f->width;
		i.sign_extend = f->sign;
		i.reg = (uint8_t)reg;
		if (f->kind != INSN_CSR)
			break;
		i.csr = (uint16_t)(raw >> 20);
		i.csr_src = (raw >> 15) & 31;
		i.csr_imm = (raw >> 14) & 1;
		i.csr_op = (enum insn_csr_op)((raw >> 12) & 3);
		i.csr_writes = !(i.csr_op != INSN_CSR_RW && i.csr_src == 0);
		break;
	}
	return i;
}

static void all_compressed_words(void **state)
{
	unsigned int loads = 0, stores = 0;

	(void)state;
	for (uint32_t raw = 0; raw < 0x10000; raw++) {
		struct insn i = insn_decode(raw);

		assert_insn("compressed", i, naive(raw));
		if ((raw & 3) == 3)
			continue;
		assert_int_equal(i.length, 2);
		loads += i.kind == INSN_LOAD;
		stores += i.kind == INSN_STORE;
	}
	/* 2 x 2048 c.lw c.ld, 2 x (2048 - 64) c.lwsp c.ldsp, 256 c.lbu, 2 x 128 c.lhu c.lh */
	assert_int_equal(loads, 4096 + 3968 + 512);
	/* 4 x 2048 c.sw c.sd c.swsp c.sdsp, 256 c.sb, 128 c.sh */
	assert_int_equal(stores, 8192 + 256 + 128);
}

/* xorshift64: the same words in each run. */
static uint64_t next_random(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static void random_words(void **state)
{
	uint64_t x = 0x9e3779b97f4a7c15;
	unsigned int kinds[INSN_CSR + 1] = {0};

	(void)state;
	for (unsigned int n = 0; n < RANDOM_WORDS; n++) {
		uint32_t raw = (uint32_t)(next_random(&x) >> 16);
		struct insn i = insn_decode(raw), h;

		assert_insn("random", i, naive(raw));
		kinds[i.kind]++;
		/* What htinst may hold: the plain decoding, and never anything else. */
		h = insn_decode_htinst(raw);
		assert_true(h.kind == INSN_OTHER || h.kind == INSN_LOAD || h.kind == INSN_STORE);
		if (h.kind != INSN_OTHER)
			assert_int_equal(h.reg, naive(raw | 2).reg);
		(void)insn_decode_htinst(x);
	}
	assert_true(kinds[INSN_LOAD] > 1000000);
	assert_true(kinds[INSN_STORE] > 1000000);
	assert_true(kinds[INSN_CSR] > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(assembled_words),
	    cmocka_unit_test(transformed_words),
	    cmocka_unit_test(all_compressed_words),
	    cmocka_unit_test(random_words),
	};

	return cmocka_run_group_tests_name("insn", tests, NULL, NULL);
}
