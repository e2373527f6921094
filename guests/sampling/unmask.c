/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every way to access sie, sip and stimecmp while a masked LCOFI is pending: what it reads and
 * writes, whether and where an interrupt comes, and how many instructions S has counted.
 */
#include "guests/sampling/sampling.h"

#define SIE_ 0x104U
#define SIP_ 0x144U
#define STC_ CSR_STIMECMP
/* Values of stimecmp: a time that is never reached, and never. */
#define LATER BIT(62)
#define NEVER (~0UL)
/* rd is a1. The operand is a0 or an immediate. */
#define INSN(csr, op, src) ((csr) << 20 | (uint32_t)(src) << 15 | (op) << 12 | 11U << 7 | 0x73U)
#define A0                 10U
enum { RW = 1, RS, RC, RWI = 5, RSI, RCI };

static const struct form {
	const char *name;
	uint32_t insn;
	uint64_t operand;
} forms[] = {
    {"csrr sie", INSN(SIE_, RS, 0), 0},
    {"csrr sip", INSN(SIP_, RS, 0), 0},
    {"csrs sie, LCOFIE", INSN(SIE_, RS, A0), IRQ_LCOFI},
    {"csrw sie, LCOFIE", INSN(SIE_, RW, A0), IRQ_LCOFI},
    {"csrw sie, all", INSN(SIE_, RW, A0), ~0UL},
    {"csrw sie, x0", INSN(SIE_, RW, 0), 0},
    {"csrc sie, SSIE", INSN(SIE_, RC, A0), IRQ_SOFT},
    {"csrwi sie, 0", INSN(SIE_, RWI, 0), 0},
    {"csrsi sie, SSIE", INSN(SIE_, RSI, 2), 0},
    {"csrci sie, SSIE", INSN(SIE_, RCI, 2), 0},
    {"csrc sip, LCOFIP", INSN(SIP_, RC, A0), IRQ_LCOFI},
    {"csrw sip, x0", INSN(SIP_, RW, 0), 0},
    {"csrs sip, SSIP", INSN(SIP_, RS, A0), IRQ_SOFT},
    {"csrwi sip, SSIP", INSN(SIP_, RWI, 2), 0},
    {"csrsi sip, SSIP", INSN(SIP_, RSI, 2), 0},
    {"csrci sip, SSIP", INSN(SIP_, RCI, 2), 0},
    {"csrr stimecmp", INSN(STC_, RS, 0), 0},
    {"csrw stimecmp, x0", INSN(STC_, RW, 0), 0},
    {"csrw stimecmp, later", INSN(STC_, RW, A0), LATER},
    {"csrw stimecmp, never", INSN(STC_, RW, A0), NEVER},
    {"csrs stimecmp, 1", INSN(STC_, RS, A0), 1},
    {"csrs stimecmp, 0", INSN(STC_, RS, A0), 0},
    {"csrc stimecmp, all", INSN(STC_, RC, A0), ~0UL},
    {"csrwi stimecmp, 31", INSN(STC_, RWI, 31), 0},
    {"csrsi stimecmp, 1", INSN(STC_, RSI, 1), 0},
    {"csrci stimecmp, 0", INSN(STC_, RCI, 0), 0},
    {"csrci stimecmp, 31", INSN(STC_, RCI, 31), 0},
};

static uint32_t code[8] __attribute__((aligned(8))) = {
    0x10016073,             /* csrsi sstatus, SIE */
    0,          0x00000013, /* nop */
    0x00000013, 0x10017073, /* csrci sstatus, SIE */
    0x00008067,             /* ret */
};

static uint64_t causes, place;

static void on_interrupt(struct trap_frame *f)
{
	causes = causes << 4 | (f->cause & 15);
	place = f->pc - (uint64_t)&code[1];
	if (f->cause == CAUSE_TIMER)
		csr_write(CSR_STIMECMP, NEVER);
	else
		csr_clear(sip, 1UL << (f->cause & 63));
}

static uint64_t run(uint32_t insn, uint64_t operand)
{
	register uint64_t a0 __asm__("a0") = operand;
	register uint64_t a1 __asm__("a1") = 0;

	code[1] = insn;
	__asm__ volatile("fence.i\n\tjalr ra, %2"
	                 : "+r"(a0), "+r"(a1)
	                 : "r"(code)
	                 : "ra", "memory");
	return a1;
}

static uint32_t samples, instructions;

static void try(const struct form *form)
{
	uint64_t before, after, read;

	csr_write(sie, IRQ_SOFT | IRQ_TIMER);
	csr_write(CSR_STIMECMP, NEVER);
	pmu_start(BIT(samples), -100UL);
	user_run(user_code, 100, 0);
	causes = place = 0;
	before = counter_read(instructions);
	read = run(form->insn, form->operand);
	after = counter_read(instructions);
	print("%s: reads 0x%x, leaves sie 0x%x", form->name, read, csr_read(sie));
	print(" sip 0x%x stimecmp 0x%x", csr_read(sip), csr_read(CSR_STIMECMP));
	print(", interrupts 0x%x at %u, %u instructions\n", causes, place, after - before);
	csr_write(CSR_STIMECMP, NEVER);
	csr_write(sie, 0);
	csr_write(sip, 0);
	pmu_stop(BIT(samples));
}

/* In U these CSRs do not exist, whatever is pending. */
static void in_user(uint32_t insn)
{
	static uint32_t user[2] __attribute__((aligned(8)));

	user[0] = insn;
	user[1] = 0x00008067;
	__asm__ volatile("fence.i" ::: "memory");
	pmu_start(BIT(samples), -100UL);
	user_run(user_code, 100, 0);
	trap_guard();
	user_run(user_call, 0, (uint64_t)user);
	print("in U: cause %u\n", trap_unguard().cause);
	csr_write(sip, 0);
	pmu_stop(BIT(samples));
}

int unmask(void)
{
	uint64_t hw = hw_counters();

	samples = configure(hw, SINH, EVENT_INSTRUCTIONS);
	instructions = configure(hw & ~BIT(samples), UINH, EVENT_CYCLES);
	pmu_start(BIT(instructions), 0);
	irq_handle_by(on_interrupt);
	for (unsigned i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		try(&forms[i]);
	in_user(INSN(SIE_, RS, A0));
	in_user(INSN(SIP_, RS, 0));
	in_user(INSN(STC_, RW, 0));
	print("unmask: ends\n");
	return 0;
}
