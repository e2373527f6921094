/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses every CSR number with every instruction, while a masked LCOFI is pending, and while OF
 * is set without a pending LCOFI. What each access reads and writes, and whether it traps, must be
 * the same. Only sip.LCOFIP itself differs.
 */
#include "guests/sampling/sampling.h"

#define CSR_SIP 0x144U
#define A0      10U
enum { RW = 1, RS, RC, RWI = 5, RSI, RCI };

/* rd is a0. The operand is a0 as well, or an immediate. */
static const struct form {
	const char *name;
	uint32_t op, src;
	enum { NOTHING, OLD, ONES } operand;
} forms[] = {
    /* The first two are used for every number, the others for CSRs that exist. */
    {"csrr", RS, 0, NOTHING},      {"csrrw old", RW, A0, OLD},      {"csrrc x0", RC, 0, NOTHING},
    {"csrrw 0", RW, 0, NOTHING},   {"csrrw all", RW, A0, ONES},     {"csrrs 0", RS, A0, NOTHING},
    {"csrrs all", RS, A0, ONES},   {"csrrc 0", RC, A0, NOTHING},    {"csrrc all", RC, A0, ONES},
    {"csrrwi 0", RWI, 0, NOTHING}, {"csrrwi 31", RWI, 31, NOTHING}, {"csrrsi 0", RSI, 0, NOTHING},
    {"csrrsi 1", RSI, 1, NOTHING}, {"csrrci 0", RCI, 0, NOTHING},   {"csrrci 1", RCI, 1, NOTHING},
};

struct result {
	uint64_t cause, read, left;
};

static uint32_t samples;

/* Sets OF, and LCOFIP as requested. The CSRs that a trap writes are the same each time. */
static void prepare(bool pends)
{
	csr_write(sie, IRQ_SOFT | IRQ_TIMER);
	csr_write(scause, 0);
	csr_write(sepc, 0);
	csr_write(stval, 0);
	csr_write(sip, pends ? IRQ_LCOFI : 0);
	/* After a PMU call, nothing is left undone by Tally. */
	pmu_stop(BIT(samples));
}

/* Leaves out CSRs that change by themselves, and LCOFIP. */
static uint64_t visible(uint32_t csr, uint64_t value)
{
	if (csr == CSR_TIME)
		return 0;
	return csr == CSR_SIP ? value & ~IRQ_LCOFI : value;
}

static struct result try(uint32_t csr, const struct form *form, uint64_t old, bool pends)
{
	static const uint64_t operands[] = {[NOTHING] = 0, [ONES] = ~0UL};
	uint32_t insn = csr << 20 | form->src << 15 | form->op << 12 | A0 << 7 | 0x73;
	struct result r;

	prepare(pends);
	trap_guard();
	r.read = visible(csr, insn_run(insn, form->operand == OLD ? old : operands[form->operand]));
	r.cause = trap_unguard().cause;
	r.left = 0;
	if (r.cause == ~0UL) {
		trap_guard();
		r.left = visible(csr, insn_run(INSN_CSRR_A0(csr), 0));
		insn_run(INSN_CSRW_A0(csr), old);
		trap_unguard();
	}
	return r;
}

static uint64_t different, passed;

/* Compares the access without a pending LCOFI to the access with one. Returns whether it passed. */
static bool compare(uint32_t csr, const struct form *form, uint64_t old)
{
	struct result without = try(csr, form, old, false), with = try(csr, form, old, true);

	passed += without.cause == ~0UL;
	if (with.cause == without.cause && with.read == without.read && with.left == without.left)
		return without.cause == ~0UL;
	if (different++ < 20)
		print("csr %x, %s: cause %x not %x, reads %x not %x, leaves %x not %x\n",
		      (uint64_t)csr, form->name, with.cause, without.cause, with.read, without.read,
		      with.left, without.left);
	return without.cause == ~0UL;
}

int sweep(void)
{
	samples = configure(hw_counters(), SINH, EVENT_INSTRUCTIONS);
	pmu_start(BIT(samples), -100UL);
	user_run(user_code, 100, 0);
	for (uint32_t csr = 0; csr < 4096; csr++) {
		uint64_t old;
		bool exists;

		trap_guard();
		old = insn_run(INSN_CSRR_A0(csr), 0);
		trap_unguard();
		exists = compare(csr, &forms[0], old);
		exists |= compare(csr, &forms[1], old);
		for (unsigned n = 2; exists && n < sizeof(forms) / sizeof(forms[0]); n++)
			compare(csr, &forms[n], old);
	}
	csr_write(sip, 0);
	print("sweep: ends, %u let through, %u different\n", passed, different);
	return 0;
}
