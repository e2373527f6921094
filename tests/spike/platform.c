/* SPDX-License-Identifier: Apache-2.0 */
/* Single facts that Tally relies on, and the cost of each counter operation. */
#include "tests/spike/spike.h"

static void delegation(void)
{
	struct ctx c;

	csr_write(CSR_HEDELEG, 0xb1ff & ~(1UL << 2));
	print("hedeleg reads 0x%x with bit 2 left out\n", csr_read(CSR_HEDELEG));
	guest_init(&c, guest_illegal, 0);
	check_eq(guest_run(&c, 0), CAUSE_ILLEGAL, "hedeleg.2 clear: illegal instruction in HS");
	check_eq(c.pc, (uint64_t)guest_illegal, "  sepc is the instruction");
	check_eq(csr_read(stval), 0xcff51073, "  stval is the instruction");
	check_eq(c.hstatus >> 7 & 1, 1, "  hstatus.SPV says it came from the guest");
	csr_write(CSR_HEDELEG, -1UL);
	print("hedeleg writable bits 0x%x, hideleg", csr_read(CSR_HEDELEG));
	csr_write(CSR_HIDELEG, -1UL);
	print(" 0x%x\n", csr_read(CSR_HIDELEG));
	csr_write(CSR_HEDELEG, 0);
	csr_write(CSR_HIDELEG, 0x444);
}

static void direct_read(void)
{
	struct ctx c;

	way_ssccfg.config(CTR_INSTR, 0x2);
	way_ssccfg.start(CTR_INSTR, 0x8000000000000001UL, false);
	guest_init(&c, guest_read, 0);
	csr_write(CSR_HCOUNTEREN, 0);
	check_eq(guest_run(&c, 0), CAUSE_VIRTUAL, "hcounteren closed: the read traps (22)");
	csr_write(CSR_HCOUNTEREN, 1UL << CTR_INSTR);
	check_eq(guest_run(&c, 0), CAUSE_VSECALL, "hcounteren open: no exit");
	check_eq(c.x[12] - c.x[11], 3, "  two reads, two nops between");
	check_eq(c.x[11], 0x8000000000000002UL, "  a read counts itself already");
	check_eq(hpm_read(CTR_INSTR), 0x8000000000000001UL + 5, "  the physical value");
	way_ssccfg.stop(1UL << CTR_INSTR);
	csr_write(CSR_HCOUNTEREN, 0);
}

static void guest_time(void)
{
	struct ctx c;
	uint64_t now;

	hs_trap_cause = 0;
	csr_write(CSR_HENVCFG, 1UL << 63);
	check_eq(csr_read(CSR_HENVCFG) >> 63, 1, "henvcfg.STCE can be set");
	csr_write(CSR_VSTIMECMP, -1UL);
	csr_write(CSR_HTIMEDELTA, -csr_read(time));
	csr_write(CSR_HCOUNTEREN, 2);
	csr_write(CSR_HIDELEG, 0x444);
	guest_init(&c, guest_timer, 300);
	check_eq(guest_run(&c, 0), CAUSE_VSECALL, "the guest takes its own timer");
	check_eq(c.x[12], CAUSE_IRQ | 5, "  as its supervisor timer interrupt");
	check_eq(c.x[11] - c.x[13], 0, "  in the very tick");
	check(c.x[11] < 1000, "  its time started at 0: htimedelta works");
	now = csr_read(CSR_VSTIMECMP);
	check_eq(now, c.x[13], "  vstimecmp holds what the guest wrote");
	check_eq(hs_trap_cause, 0, "  no access of ours trapped");

	/* WFI with VTW = 0: HS's own timer interrupts the guest's WFI. */
	csr_write(CSR_VSTIMECMP, -1UL);
	guest_init(&c, guest_wfi, 100000);
	check_eq(guest_run(&c, 50), CAUSE_TIMER, "an HS timer ends the guest's WFI");
	c.hstatus |= 1UL << 21;
	guest_init(&c, guest_wfi, 100000);
	c.hstatus |= 1UL << 21;
	check_eq(guest_run(&c, 50), CAUSE_VIRTUAL, "hstatus.VTW: WFI traps (22)");
	csr_write(CSR_VSTIMECMP, -1UL);
	csr_write(CSR_VSIE, 0);
	csr_write(CSR_HTIMEDELTA, 0);
	csr_write(CSR_HCOUNTEREN, 0);
	csr_write(CSR_VSSTATUS, 0);
}

static void virtual_lcofi(void)
{
	struct ctx c;

	csr_set(CSR_HVIEN, LCOFI);
	check_eq(csr_read(CSR_HVIEN) & LCOFI, LCOFI, "hvien.13 can be set");
	csr_set(sie, LCOFI);
	csr_write(CSR_VSIE, LCOFI);
	csr_set(CSR_HVIP, LCOFI);
	guest_init(&c, guest_lcofi, 0);
	check_eq(guest_run(&c, 0), CAUSE_VSECALL, "a virtual LCOFI by hvip.13");
	check_eq(c.x[11], CAUSE_LCOFI, "  scause in VS");
	check_eq(c.x[12], LCOFI, "  sip in VS");
	check_eq(c.x[13], 0, "  the guest clears it itself");
	check_eq(csr_read(CSR_HVIP) & LCOFI, 0, "  and hvip.13 with it");
	csr_write(CSR_VSIE, 0);
	csr_write(CSR_VSSTATUS, 0);
	csr_clear(sie, LCOFI);
}

void test_platform(void)
{
	print("platform facts\n");
	delegation();
	direct_read();
	guest_time();
	virtual_lcofi();
}

/* Returns the instructions of HS and M between two reads of instret, without the read itself. */
#define COST(name, expr)                                                                           \
	do {                                                                                       \
		uint64_t t0_ = csr_read(CSR_INSTRET);                                              \
		expr;                                                                              \
		print("cost %s: %u\n", name, csr_read(CSR_INSTRET) - t0_ - 1);                     \
	} while (0)

void test_cost(void)
{
	uint64_t one = 1UL << CTR_INSTR, two = one | (1UL << CTR_CYCLES);

	way_sbi.config(CTR_CYCLES, 1);
	COST("sbi config, one-bit mask", way_sbi.config(CTR_INSTR, 2));
	COST("sbi start unarmed", way_sbi.start(CTR_INSTR, 5, false));
	COST("sbi stop", way_sbi.stop(one));
	COST("sbi start armed", way_sbi.start(CTR_INSTR, 5, true));
	COST("read by CSR", hpm_read(CTR_INSTR));
	way_sbi.stop(one);
	COST("sbi resume unarmed, 1 counter", way_sbi.resume(one, false));
	way_sbi.stop(one);
	COST("sbi resume unarmed, 2 counters", way_sbi.resume(two, false));
	COST("sbi stop, 2 counters", way_sbi.stop(two));
	COST("sbi stop with RESET, stopped", way_sbi.release(CTR_INSTR));
	way_sbi.release(CTR_CYCLES);
	ssccfg_adopt(CTR_CYCLES, 0x1);
	ssccfg_adopt(CTR_INSTR, 0x2);
	way_ssccfg.config(CTR_CYCLES, 1);
	COST("ssccfg config", way_ssccfg.config(CTR_INSTR, 2));
	COST("ssccfg start unarmed", way_ssccfg.start(CTR_INSTR, 5, false));
	COST("ssccfg stop", way_ssccfg.stop(one));
	COST("ssccfg start armed", way_ssccfg.start(CTR_INSTR, 5, true));
	way_ssccfg.stop(one);
	COST("ssccfg resume, 2 counters", way_ssccfg.resume(two, false));
	way_ssccfg.stop(two);
	COST("sip.13 read and test", csr_read(sip));
	COST("scountovf read", csr_read(CSR_SCOUNTOVF));
	way_sbi.release(CTR_CYCLES);
	way_sbi.release(CTR_INSTR);
}

/* What the firmware does outside the caller's mask: it chooses counter 2 for any mask. */
void test_allocator(void)
{
	way_sbi.release(CTR_INSTR);
	check_eq((uint64_t)pmu_config(CTR_INSTR, 0x2, VS_ONLY), 0, "a free counter is given");
	check_eq((uint64_t)pmu_config(CTR_INSTR, 0x2, VS_ONLY), (uint64_t)-100,
	         "a held counter: one outside the mask is given");
	way_sbi.release(CTR_INSTR);
}
