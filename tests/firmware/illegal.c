/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With fw.delegated= this is a hart whose delegated counters have an error: menvcfg.CDE is 0, so
 * every access to one traps here. All other exceptions are passed on to the mode that they belong
 * to.
 */
#include "tests/firmware/firmware.h"

#define SISELECT      "0x150"
#define SIREG         0x151U
#define SIREG2        0x152U
#define SCOUNTINHIBIT 0x120U
#define MINH          (1UL << 62)
#define OF_AND_MODES  0xbfUL << 56

#define MPV       (1UL << 39)
#define MPP_S     (1UL << 11)
#define SPP       (1UL << 8)
#define SPIE      (1UL << 5)
#define SIE       (1UL << 1)
#define CAUSE_ILL 2UL
#define HEDELEG   "0x602"

/* Passes the exception on to VS-mode or HS-mode, depending on the mode in mstatus. */
static void hand_on(void)
{
	uint64_t m = csr_read(mstatus), s;

	if (m & MPV) {
		__asm__ volatile("csrr %0, vsstatus" : "=r"(s));
		s = (s & ~(SPP | SPIE | SIE)) | (m & MPP_S ? SPP : 0) | (s & SIE ? SPIE : 0);
		__asm__ volatile("csrw vsstatus, %0\n csrw vsepc, %1\n csrw vscause, %2\n"
		                 "csrw vstval, %3" ::"r"(s),
		                 "r"(csr_read(mepc)), "r"(CAUSE_ILL), "r"(csr_read(mtval)));
		__asm__ volatile("csrr %0, vstvec" : "=r"(s));
	} else {
		csr_write(sepc, csr_read(mepc));
		csr_write(scause, CAUSE_ILL);
		csr_write(stval, csr_read(mtval));
		__asm__ volatile("csrc hstatus, %0" ::"r"(BIT(7)));
		csr_clear(mstatus, SPP | SPIE | SIE);
		csr_set(mstatus, (m & MPP_S ? SPP : 0) | (m & SIE ? SPIE : 0));
		s = csr_read(stvec);
	}
	csr_set(mstatus, MPP_S);
	csr_write(mepc, s & ~3UL);
}

static uint64_t read(uint32_t csr, uint32_t idx)
{
	if (csr == SCOUNTINHIBIT)
		return csr_read(mcountinhibit);
	return csr == SIREG ? pmu_counter(idx) : pmu_event(idx) & ~MINH;
}

static void write(uint32_t csr, uint32_t idx, uint64_t value)
{
	if (option_is("delegated=ignores"))
		return;
	if (csr == SCOUNTINHIBIT)
		csr_write(mcountinhibit, value);
	else if (csr == SIREG)
		pmu_set_counter(idx, value);
	else
		pmu_set_event(idx, value & ~MINH);
}

static bool emulate(struct frame *f)
{
	uint32_t insn = (uint32_t)csr_read(mtval);
	uint32_t csr = insn >> 20, op = insn >> 12 & 7, rs = insn >> 15 & 31, rd = insn >> 7 & 31;
	uint64_t operand = op & 4 ? rs : rs ? f->x[rs] : 0;
	bool writes = (op & 3) == 1 || rs;
	uint64_t idx, old;

	__asm__ volatile("csrr %0, " SISELECT : "=r"(idx));
	idx -= 0x40;
	if ((insn & 0x7f) != 0x73 || !(op & 3) ||
	    (csr != SIREG && csr != SIREG2 && csr != SCOUNTINHIBIT) ||
	    (csr != SCOUNTINHIBIT && (idx > 18 || idx == 1)))
		return false;
	if (writes && option_is("delegated=reads"))
		return false;
	old = read(csr, (uint32_t)idx);
	if (writes)
		write(csr, (uint32_t)idx,
		      (op & 3) == 1   ? operand
		      : (op & 3) == 2 ? old | operand
		                      : old & ~operand);
	if (rd)
		f->x[rd] = old;
	csr_write(mepc, csr_read(mepc) + 4);
	return true;
}

void illegal_instruction(struct frame *f)
{
	uint64_t m = csr_read(mstatus);

	if ((m & MPV) || !(m & MPP_S) || !emulate(f))
		hand_on();
}
