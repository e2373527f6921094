/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes its own mark into every piece of a vcpu's state that it can write, lets other guests run,
 * and checks that the marks are still there. Two such guests with different marks show what a world
 * switch loses, or passes on to the next vcpu.
 */
#include "guests/bare/bare.h"

#define SSTATUS_FS  (3UL << 13)
#define SSTATUS_SUM (1UL << 18)
#define SSTATUS_MXR (1UL << 19)

struct mark {
	const char *name;
	uint32_t csr;
	uint64_t mask; /* bits that the guest may choose */
};

/* siselect is not offered to guests. If it can be written, it must be the guest's own. */
static const struct mark marks[] = {
    {"sscratch", 0x140, ~0UL},  {"sepc", 0x141, ~3UL},
    {"scause", 0x142, 0xf},     {"stval", 0x143, ~0UL},
    {"stimecmp", 0x14d, ~0UL},  {"siselect", 0x150, 0xff},
    {"scounteren", 0x106, 0x7}, {"senvcfg", 0x10a, 0x1},
    {"sie", 0x104, 0x222},      {"sstatus", 0x100, SSTATUS_SUM | SSTATUS_MXR},
    {"fcsr", 0x003, 0xff},
};
#define MARKS (sizeof(marks) / sizeof(marks[0]))

static uint64_t held[MARKS], vec_bytes;
static uint64_t fregs[32];
static uint64_t vregs[32 * 128 / 8] __attribute__((aligned(16)));

/* Returns a different pattern for each place, derived from the guest's own number. */
static uint64_t pattern(uint64_t mark, unsigned place)
{
	uint64_t x = mark * 0x9e3779b97f4a7c15UL + place * 0xbf58476d1ce4e5b9UL + 1;

	return x ^ x >> 29;
}

static uint64_t csr_get(uint32_t csr)
{
	uint64_t value;

	trap_guard();
	value = insn_run(INSN_CSRR_A0(csr), 0);
	return trap_unguard().cause == ~0UL ? value : 0;
}

static void csr_put(uint32_t csr, uint64_t value)
{
	trap_guard();
	insn_run(INSN_CSRW_A0(csr), value);
	trap_unguard();
}

#define ALL_FREGS(op)                                                                              \
	op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11) op(12) op(13)    \
	    op(14) op(15) op(16) op(17) op(18) op(19) op(20) op(21) op(22) op(23) op(24) op(25)    \
	        op(26) op(27) op(28) op(29) op(30) op(31)
#define FREG_PUT(n) __asm__ volatile("fld f" #n ", 0(%0)" ::"r"(&fregs[n]) : "memory");
#define FREG_GET(n) __asm__ volatile("fsd f" #n ", 0(%0)" ::"r"(&fregs[n]) : "memory");

void marks_put(uint64_t mark)
{
	for (unsigned i = 0; i < 32; i++)
		fregs[i] = pattern(mark, 100 + i);
	ALL_FREGS(FREG_PUT)
	if (with_vectors()) {
		for (unsigned i = 0; i < sizeof(vregs) / 8; i++)
			vregs[i] = pattern(mark, 200 + i);
		vec_bytes = vec_put(vregs);
	}
	/* Trap state comes last, because csr_put() itself may trap and change it. */
	for (unsigned n = MARKS; n--;) {
		uint64_t old = csr_get(marks[n].csr);

		csr_put(marks[n].csr, (old & ~marks[n].mask) | (pattern(mark, n) & marks[n].mask));
	}
	for (unsigned n = 0; n < MARKS; n++)
		held[n] = csr_get(marks[n].csr) & marks[n].mask;
}

uint64_t marks_check(uint64_t mark)
{
	uint64_t wrong = 0;

	for (unsigned n = 0; n < MARKS; n++) {
		uint64_t now = csr_get(marks[n].csr) & marks[n].mask;

		if (now == held[n])
			continue;
		print("marks: %s was 0x%x, is 0x%x\n", marks[n].name, held[n], now);
		held[n] = now;
		wrong++;
	}
	if (with_vectors()) {
		wrong += !vec_get(vregs);
		for (unsigned i = 0; i < 4 * vec_bytes; i++)
			wrong += vregs[i] != pattern(mark, 200 + i);
	}
	ALL_FREGS(FREG_GET)
	for (unsigned i = 0; i < 32; i++)
		wrong += fregs[i] != pattern(mark, 100 + i);
	return wrong;
}

/* Returns how many vector registers are not 0 before they are written for the first time. */
uint64_t marks_left_by_others(void)
{
	uint64_t wrong = 0;

	if (!with_vectors())
		return 0;
	vec_get(vregs);
	for (unsigned i = 0; i < sizeof(vregs) / 8; i++)
		wrong += vregs[i] != 0;
	return wrong;
}

static bool passed(uint64_t until)
{
	return csr_read(time) >= until;
}

int marks_kind(uint64_t hartid)
{
	uint64_t mark = bootarg_num("mark", 1), wrong = 0, looks = 0;

	(void)hartid;
	/* On from the start, so that it is on while other guests run. */
	csr_set(sstatus, SSTATUS_FS | (with_vectors() ? SSTATUS_VS : 0));
	wrong += marks_left_by_others();
	while (!time_is_up()) {
		uint64_t until = csr_read(time) + 20000;

		marks_put(mark + looks % 7 * 1000);
		while (!passed(until))
			;
		wrong += marks_check(mark + looks++ % 7 * 1000);
	}
	csr_write(sie, 0);
	if (vec_bytes)
		print("marks: vector registers of %u bytes\n", vec_bytes);
	print("marks: ends, %u wrong\n", wrong);
	return wrong ? 1 : 0;
}
