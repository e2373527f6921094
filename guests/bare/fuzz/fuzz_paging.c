/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page tables with entries of every kind: superpages at each level, also misaligned ones, tables
 * that lead to themselves, G, reserved bits, pages outside of memory. All vcpus write into all
 * tables, while those are used. The gigapage of the program stays in most of them.
 */
#include "guests/bare/fuzz/fuzz.h"

#define V        1UL
#define LEAF     0xcfUL /* D A X W R V */
#define U        0x10UL
#define PPN(pa)  ((pa) >> 12 << 10)
#define GIGAPAGE (PPN(0x80000000UL) | LEAF)
#define ALIAS    (0x40000000UL - 0x80000000UL) /* of the program, in U */

enum { ROOT57, ROOT48, ROOT39, LOWER };

static volatile uint64_t *table(uint64_t vcpu, uint64_t n)
{
	return (volatile uint64_t *)(TABLES_OF(vcpu) + n * 4096);
}

static uint64_t entry(struct fuzz_vcpu *v)
{
	uint64_t flags = fuzz_random(v) & 0x3ff;

	switch (fuzz_below(v, 8)) {
	case 0:
	case 1:
		return PPN((uint64_t)table(fuzz_below(v, FUZZ_VCPUS), fuzz_below(v, TABLES))) | V;
	case 2:
	case 3:
		return PPN(SCRATCH + fuzz_below(v, SCRATCH_BYTES)) | flags | LEAF;
	case 4:
		return PPN(0x80000000UL + (fuzz_below(v, 4) << 21)) | flags | V;
	case 5:
		return PPN(fuzz_value(v)) | flags | V;
	case 6:
		return fuzz_random(v) << 54 | PPN(SCRATCH) | flags | V;
	default:
		return fuzz_value(v);
	}
}

/* Not the entries that lead to the program, or almost never. */
static void change(struct fuzz_vcpu *v, uint64_t vcpu)
{
	uint64_t n = fuzz_below(v, TABLES),
	         at = fuzz_once_in(v, 2) ? fuzz_below(v, 4) : fuzz_below(v, 512);

	if (n < LOWER && (at == 0 || at == 1 || at == 2) && !fuzz_once_in(v, 500))
		at += 3;
	table(vcpu, n)[at] = entry(v);
}

static uint64_t address(struct fuzz_vcpu *v)
{
	uint64_t va = fuzz_value(v) & 0xfff;

	for (unsigned shift = 12; shift <= 48; shift += 9)
		va |= (fuzz_once_in(v, 2) ? fuzz_below(v, 4) : fuzz_below(v, 512)) << shift;
	/* Not canonical, sometimes. */
	if (fuzz_once_in(v, 2))
		va &= 0x3fffffffffUL;
	return va;
}

static uint32_t word(struct fuzz_vcpu *v)
{
	static const uint32_t words[] = {0x12000073, 0x0000100f};

	return fuzz_once_in(v, 6) ? PICK(v, words) : fuzz_memory_word(v);
}

static void run(struct fuzz_vcpu *v)
{
	uint64_t n = 1 + fuzz_below(v, 12), user = fuzz_below(v, 2);

	for (uint64_t i = 0; i < n; i++)
		v->words[i] = word(v);
	v->words[n] = 0x00100073;
	for (unsigned i = 1; i < 32; i++)
		v->regs[i] = address(v);
	__asm__ volatile("fence.i" ::: "memory");
	csr_clear(sstatus, 0xc0100UL | SSTATUS_SIE);
	csr_set(sstatus, (fuzz_random(v) & 0xc0000UL) | (user ? 0 : 0x100));
	v->code = (uint64_t)v->words;
	v->code_end = v->code + 4 * n;
	fuzz_run(v, v->regs, v->code + (user ? ALIAS : 0));
	v->code = 0;
	csr_clear(sstatus, SSTATUS_SIE);
}

void fuzz_paging(struct fuzz_vcpu *v)
{
	uint64_t mode = 8 + fuzz_below(v, 3),
	         asid = fuzz_once_in(v, 2) ? fuzz_below(v, 4) : fuzz_random(v) & 0xffff;

	table(v->id, ROOT57)[0] = PPN((uint64_t)table(v->id, ROOT48)) | V;
	table(v->id, ROOT48)[0] = PPN((uint64_t)table(v->id, ROOT39)) | V;
	table(v->id, ROOT39)[1] = GIGAPAGE | U;
	table(v->id, ROOT39)[2] = GIGAPAGE;
	for (uint64_t n = fuzz_below(v, 30); n; n--)
		change(v, v->id);
	fuzz_say(v, "mode %u, asid %u", mode, asid);
	csr_write(satp, mode << 60 | asid << 44 | (uint64_t)table(v->id, 10 - mode) >> 12);
	if (!fuzz_once_in(v, 4))
		__asm__ volatile("sfence.vma" ::: "memory");
	for (uint64_t n = 1 + fuzz_below(v, 4); n; n--) {
		run(v);
		change(v, fuzz_below(v, FUZZ_VCPUS));
		if (fuzz_once_in(v, 3))
			sbi_call(SBI_EXT_RFENCE, 1 + fuzz_below(v, 2), ~0UL, ~0UL, 0, ~0UL, asid,
			         0);
	}
	fuzz_restore(v);
}
