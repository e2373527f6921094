/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions, and code made of them. Jumps and branches are left out: they lead nowhere. */
#include "guests/bare/fuzz/fuzz.h"

#define EBREAK 0x00100073U

static uint32_t reg(struct fuzz_vcpu *v)
{
	return (uint32_t)fuzz_below(v, 32);
}

/* QEMU's loads and stores of vectors with unit stride may end it by an assertion of its own
 * (docs/platform.md). Such a word gets a stride. */
static uint32_t tame(uint32_t word)
{
	uint32_t opcode = word & 0x7f, width = word >> 12 & 7, mop = word >> 26 & 3;
	bool vector = (opcode == 0x07 || opcode == 0x27) && (width == 0 || width >= 5);

	return vector && mop == 0 ? word | 2U << 26 : word;
}

static uint32_t csr_insn(struct fuzz_vcpu *v, uint32_t csr)
{
	static const uint32_t forms[] = {1, 1, 2, 2, 3, 5, 6, 7};

	static const uint32_t no_ones[] = {3, 6, 7};
	/* QEMU takes UXL=3 for a guest, and then an assertion of its own ends it
	 * (docs/platform.md).
	 */
	uint32_t form = csr == 0x100 ? PICK(v, no_ones) : PICK(v, forms);

	return csr << 20 | reg(v) << 15 | form << 12 | reg(v) << 7 | 0x73;
}

/* Registers of an AIA, with an access to what siselect may name: the registers of an interrupt
 * file, and priorities. */
void fuzz_file(struct fuzz_vcpu *v)
{
	static const uint32_t csrs[] = {0x150, 0x151, 0x151, 0x151, 0x152, 0x153,
	                                0x155, 0x156, 0x157, 0x15c, 0xdb0};

	for (uint64_t n = 1 + fuzz_below(v, 8); n; n--) {
		uint64_t select = 0x30 + fuzz_below(v, 0xe0), status = fuzz_random(v);

		v->words[0] = 0x15059073; /* csrw siselect, a1 */
		v->words[1] = csr_insn(v, PICK(v, csrs));
		v->words[2] = EBREAK;
		__asm__ volatile("fence.i" ::: "memory");
		for (unsigned i = 1; i < 32; i++)
			v->regs[i] = fuzz_value(v);
		v->regs[11] = fuzz_once_in(v, 8) ? fuzz_value(v) : select;
		fuzz_say(v, "executes %x with siselect %x", (uint64_t)v->words[1], v->regs[11]);
		csr_clear(sstatus, 0x120UL | SSTATUS_SIE);
		csr_set(sstatus, status & 0x100UL);
		v->code = (uint64_t)v->words;
		v->code_end = v->code + 8;
		fuzz_run(v, v->regs, v->code);
		v->code = 0;
		fuzz_restore(v);
	}
}

uint32_t fuzz_csr_word(struct fuzz_vcpu *v)
{
	static const uint32_t known[] = {
	    0x100, 0x104, 0x106, 0x10a, 0x120, 0x140, 0x141, 0x142, 0x143, 0x144, 0x14d,
	    0x14e, 0x150, 0x151, 0x152, 0x15c, 0x5a8, 0xc00, 0xc01, 0xc02, 0xc03, 0xc04,
	    0xda0, 0xdb0, 0x001, 0x002, 0x003, 0x600, 0x606, 0x645, 0xb03, 0x323, 0x321,
	};
	uint32_t csr = fuzz_once_in(v, 3) ? (uint32_t)fuzz_below(v, 4096) : PICK(v, known);

	/* stvec and satp: seldom, because few lives go on after them. */
	if ((csr == 0x105 || csr == 0x180) && !fuzz_once_in(v, 20))
		csr = 0x140;
	return csr_insn(v, csr);
}

uint32_t fuzz_float_word(struct fuzz_vcpu *v)
{
	static const uint32_t csrs[] = {0x1, 0x2,   0x3,   0x8,   0x9,  0xa,
	                                0xf, 0xc20, 0xc21, 0xc22, 0x100};
	uint32_t any = (uint32_t)fuzz_random(v) & ~0x7fU;

	switch (fuzz_below(v, 8)) {
	case 0:
	case 1:
		return csr_insn(v, PICK(v, csrs));
	case 2:
		return any | 0x53;
	case 3:
		/* fmv.d.x: any value */
		return 0xf2000053U | reg(v) << 15 | reg(v) << 7;
	case 4:
		/* vsetvli, vsetivli, vsetvl */
		return (any & 0xfff8f80U) | (uint32_t)fuzz_below(v, 4) << 30 | 7U << 12 | 0x57;
	case 5:
		/* vmv.v.x, of any shape that is set */
		return 0x5e004057U | reg(v) << 15 | reg(v) << 7;
	case 6:
		return any | 0x57;
	default:
		return tame(any | (fuzz_once_in(v, 2) ? 0x43U : 0x7U));
	}
}

uint32_t fuzz_memory_word(struct fuzz_vcpu *v)
{
	static const uint32_t opcodes[] = {0x03, 0x03, 0x03, 0x23, 0x23, 0x23, 0x2f, 0x07, 0x27};
	uint32_t any = (uint32_t)fuzz_random(v), opcode = PICK(v, opcodes);

	/* Small offsets, or an access is never where the register says. */
	if (opcode == 0x2f)
		return (any & 0xfe0fff80U) | reg(v) << 15 | opcode;
	if (fuzz_once_in(v, 4))
		return tame((any & ~0x7fU) | opcode);
	return tame((any & 0x007fff80U) | opcode);
}

static uint32_t system_word(struct fuzz_vcpu *v)
{
	static const uint32_t words[] = {
	    0x30200073, 0x7b200073, 0x00200073, 0x70200073, 0x62000073, 0x22000073, 0x66000073,
	    0x26000073, 0x16000073, 0x18000073, 0x18100073, 0x12000073, 0x0000100f, 0x0ff0000f,
	    0x0100000f, 0x01d00073, 0x00d00073, 0x10200073, 0x0005200f, 0x0015200f, 0x0025200f,
	    0x0045200f, 0x60054573, 0x6c054573, 0x64354573, 0x62a54073, 0x6ea54073, 0x00000073,
	};
	uint32_t word = PICK(v, words);

	/* sfence.vma and its like with registers */
	if ((word & 0x01ffffff) == 0x73 && word >> 25)
		word |= reg(v) << 15 | reg(v) << 20;
	return word;
}

uint32_t fuzz_any_word(struct fuzz_vcpu *v)
{
	uint32_t word = (uint32_t)fuzz_random(v), opcode = word & 0x7f;

	switch (fuzz_below(v, 6)) {
	case 0:
		return fuzz_csr_word(v);
	case 1:
		return fuzz_float_word(v);
	case 2:
		return fuzz_memory_word(v);
	case 3:
	case 4:
		return system_word(v);
	default:
		return (opcode & 3) != 3 || opcode == 0x63 || opcode == 0x67 || opcode == 0x6f ||
		               opcode == 0x73
		           ? (word & ~0x7fU) | 0x33
		           : tame(word);
	}
}

void fuzz_execute(struct fuzz_vcpu *v, uint32_t *code, uint64_t words, uint64_t alias)
{
	uint64_t status = fuzz_random(v);

	for (uint64_t i = 0; i < words; i++)
		fuzz_say(v, "executes %x", (uint64_t)code[i]);
	code[words] = EBREAK;
	__asm__ volatile("fence.i" ::: "memory");
	for (unsigned i = 1; i < 32; i++)
		v->regs[i] = fuzz_value(v);
	/* SPP: in S or U. SPIE: with interrupts or not. SUM and MXR. */
	csr_clear(sstatus, 0xc0120UL | SSTATUS_SIE);
	csr_set(sstatus, status & 0xc0120UL);
	fuzz_say(v, "in %s", status & 0x100 ? "S" : "U");
	v->code = (uint64_t)code;
	v->code_end = v->code + 4 * words;
	fuzz_run(v, v->regs, v->code + alias);
	v->code = 0;
	fuzz_restore(v);
}

void fuzz_code(struct fuzz_vcpu *v, uint32_t (*word)(struct fuzz_vcpu *), uint64_t alias)
{
	uint64_t n = 1 + fuzz_below(v, 16);

	for (uint64_t i = 0; i < n; i++)
		v->words[i] = word(v);
	fuzz_execute(v, v->words, n, alias);
}
