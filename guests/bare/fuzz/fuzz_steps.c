/* SPDX-License-Identifier: Apache-2.0 */
/* Steps that execute instructions: single ones, those that another vcpu changes, and waits. */
#include "guests/bare/fuzz/fuzz.h"
#include "guests/bare/io/rtc.h"

#define FUNCTIONS   16U
#define NEW_YEAR_NS 1767225600000000000UL /* of 2026 */
#define TICK_NS     100UL
#define SW_A1_A0    0x00b52023U

void fuzz_csr(struct fuzz_vcpu *v)
{
	fuzz_code(v, fuzz_csr_word, 0);
}

void fuzz_float(struct fuzz_vcpu *v)
{
	fuzz_code(v, fuzz_float_word, 0);
}

void fuzz_insn(struct fuzz_vcpu *v)
{
	fuzz_code(v, fuzz_any_word, 0);
}

/* A register of its clock or beside it, and a value: often of a moment that is soon, so that alarms
 * come. The tests' machines have the same date at each power-on. */
static uint64_t clock_register(struct fuzz_vcpu *v, uint64_t *value)
{
	uint64_t soon = NEW_YEAR_NS + csr_read(time) * TICK_NS + fuzz_below(v, 1UL << 30);
	uint64_t offset = 4 * fuzz_below(v, 8);

	if (fuzz_once_in(v, 8))
		offset = fuzz_below(v, 0x1000);
	if (!fuzz_once_in(v, 4))
		*value = offset % 8 ? soon >> 32 : soon;
	return RTC + offset;
}

/* An access of any width to a device of its own, or beside it. */
static void access(struct fuzz_vcpu *v)
{
	uint64_t at = fuzz_once_in(v, 3) ? UART + 1 + fuzz_below(v, 12)
	                                 : PLIC + (fuzz_below(v, 0x400000) & fuzz_random(v) &
	                                           (fuzz_once_in(v, 4) ? ~0UL : ~3UL));
	uint64_t value = fuzz_value(v);
	bool clock = fuzz_once_in(v, 6);

	/* Of the registers of a context, threshold and claim are in use. */
	if (fuzz_once_in(v, 3))
		at = PLIC + 0x200000 + fuzz_below(v, 10) * 0x1000 + fuzz_below(v, 3) * 4;
	if (bootarg("virt") && fuzz_once_in(v, 4))
		at = (SLOTS + fuzz_below(v, 0x8000)) & (fuzz_once_in(v, 2) ? ~0UL : ~0xff3UL);
	if (bootarg("key") && fuzz_once_in(v, 4))
		at = (KEY + fuzz_below(v, 0x400)) & (fuzz_once_in(v, 2) ? ~0UL : ~3UL);
	if (fuzz_once_in(v, 10))
		at = fuzz_value(v);
	if (clock)
		at = clock_register(v, &value);
	fuzz_say(v, "at %x: %x", at, value);
	for (unsigned i = 1; i < 32; i++)
		v->regs[i] = at;
	for (unsigned i = 0; i < 4; i++)
		v->words[i] = fuzz_memory_word(v);
	if (clock)
		v->words[0] = SW_A1_A0;
	v->words[4] = 0x00100073;
	v->regs[11] = value;
	__asm__ volatile("fence.i" ::: "memory");
	csr_clear(sstatus, SSTATUS_SIE);
	csr_set(sstatus, 0x100);
	v->code = (uint64_t)v->words;
	v->code_end = v->code + 16;
	fuzz_run(v, v->regs, v->code);
	v->code = 0;
	fuzz_restore(v);
}

void fuzz_mmio(struct fuzz_vcpu *v)
{
	for (uint64_t n = 1 + fuzz_below(v, 8); n; n--)
		access(v);
}

/* Writes into a function that another vcpu may be executing, tells it or does not, and calls one.
 */
void fuzz_shared_code(struct fuzz_vcpu *v)
{
	uint32_t *f = (uint32_t *)(SHARED_CODE + 128 * fuzz_below(v, FUNCTIONS));
	uint64_t first = fuzz_below(v, 20), n = 1 + fuzz_below(v, 8);

	for (uint64_t i = 0; i < n; i++)
		((volatile uint32_t *)f)[first + i] = fuzz_any_word(v);
	if (fuzz_once_in(v, 3))
		sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_FENCE_I, ~0UL, ~0UL, 0, 0, 0, 0);
	f = (uint32_t *)(SHARED_CODE + 128 * fuzz_below(v, FUNCTIONS));
	fuzz_say(v, "calls %x", (uint64_t)f);
	fuzz_execute(v, f, 28, 0);
}

/* A trap with its vector at an odd place. Few lives go on after that. */
void fuzz_vector(struct fuzz_vcpu *v)
{
	uint64_t at = (uint64_t)fuzz_vectors + 64 * v->id;

	if (!fuzz_once_in(v, 3))
		return;
	switch (fuzz_below(v, 4)) {
	case 0:
		at |= 1; /* vectored: interrupts come elsewhere */
		break;
	case 1:
		at |= 2; /* reserved */
		break;
	case 2:
		at += 4 * fuzz_below(v, 16);
		break;
	default:
		at = fuzz_value(v);
	}
	fuzz_say(v, "vector at %x", at);
	csr_write(stvec, at);
	csr_set(sie, IRQ_SOFT | IRQ_TIMER | IRQ_LCOFI);
	if (fuzz_once_in(v, 2))
		csr_set(sip, IRQ_SOFT);
	csr_set(sstatus, SSTATUS_SIE);
	__asm__ volatile(".word 0" ::: "memory");
}

/* Waits of every kind; a timer is due. */
void fuzz_wait(struct fuzz_vcpu *v)
{
	uint64_t n = 1 + fuzz_below(v, 5);

	csr_set(sie, IRQ_TIMER);
	csr_set(sstatus, fuzz_below(v, 2) * SSTATUS_SIE);
	for (; n; n--) {
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + fuzz_below(v, 300), 0,
		         0, 0, 0, 0);
		switch (fuzz_below(v, 3)) {
		case 0:
			__asm__ volatile("wfi" ::: "memory");
			break;
		case 1:
			__asm__ volatile(".word 0x00d00073" ::: "memory"); /* wrs.nto */
			break;
		default:
			__asm__ volatile(".word 0x01d00073" ::: "memory"); /* wrs.sto */
		}
	}
}

void fuzz_spin(struct fuzz_vcpu *v)
{
	csr_set(sie, fuzz_value(v) | IRQ_LCOFI);
	csr_set(sstatus, fuzz_below(v, 4) ? SSTATUS_SIE : 0);
	for (volatile uint64_t n = fuzz_below(v, 5000); n; n--)
		;
}
