/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Armed and unarmed starts: when LCOFI comes, when it does not, and what a start needs if the
 * counter was of the other kind before.
 */
#include "tests/spike/spike.h"

#define BAD_START 0x8000000000000001UL /* arms a timer that makes the next overflow get lost */

static uint64_t ovf(void)
{
	return csr_read(CSR_SCOUNTOVF);
}

/* Returns how many instructions of guest_loop were executed, from its registers. */
static uint64_t done(const struct ctx *c, uint64_t rounds)
{
	return 2 * (rounds - c->x[10]) - (c->pc != (uint64_t)guest_loop);
}

/* Runs the loop with the counter started at -dist, armed. It must exit by LCOFI after dist. */
static void expect_lcofi(const struct way *way, uint32_t ctr, uint64_t dist, const char *name)
{
	struct ctx c;
	uint64_t cause;

	guest_init(&c, guest_loop, 100000);
	way->start(ctr, -dist, true);
	cause = guest_run(&c, 0);
	check_eq(cause, CAUSE_LCOFI, name);
	check_eq(done(&c, 100000), dist, "  at the exact instruction");
	check_eq(hpm_read(ctr), 0, "  the counter reads 0");
	csr_clear(sip, LCOFI);
	check_eq(ovf() & (1UL << ctr), 1UL << ctr, "  scountovf has its bit");
	cause = guest_run(&c, 0);
	way->stop(1UL << ctr);
	check_eq(cause, CAUSE_VSECALL, "  no second LCOFI");
	check_eq(hpm_read(ctr), 200001 - dist, "  the count goes on past the wrap");
}

static void expect_silence(const struct way *way, uint32_t ctr, uint64_t start, const char *name)
{
	struct ctx c;

	guest_init(&c, guest_loop, 5000);
	way->start(ctr, start, false);
	check_eq(ovf() & (1UL << ctr), 1UL << ctr, "  OF is set by an unarmed start");
	check_eq(guest_run(&c, 0), CAUSE_VSECALL, name);
	way->stop(1UL << ctr);
	check_eq(csr_read(sip) & LCOFI, 0, "  nothing pends");
	check_eq(hpm_read(ctr) - start, 10001, "  the count is exact");
}

/* An armed counter is stopped half way for another guest, and set again. */
static void lcofi_across_switch(const struct way *way, uint32_t ctr, bool clobber)
{
	struct ctx c, other;
	uint64_t value;

	guest_init(&c, guest_loop, 100000);
	guest_init(&other, guest_loop, 5000);
	way->start(ctr, -50000UL, true);
	check_eq(guest_run(&c, 200), CAUSE_TIMER, "timer before the wrap");
	way->stop(1UL << ctr);
	value = hpm_read(ctr);
	if (clobber) {
		way->start(ctr, 7, true);
		guest_run(&other, 0);
		way->stop(1UL << ctr);
		check_eq(hpm_read(ctr), 10008, "  the other one counted in between");
		way->start(ctr, value, true);
	} else {
		guest_run(&other, 0);
		way->resume(1UL << ctr, true);
	}
	check_eq(guest_run(&c, 0), CAUSE_LCOFI, "  LCOFI after the switch back");
	check_eq(done(&c, 100000), 50000, "  at the exact instruction");
	csr_clear(sip, LCOFI);
	way->stop(1UL << ctr);
}

/* The counter runs on during exits and work in HS, which it does not count. */
static void lcofi_across_exits(const struct way *way, uint32_t ctr)
{
	struct ctx c;
	int exits = 0;
	uint64_t cause;

	guest_init(&c, guest_loop, 100000);
	way->start(ctr, -50000UL, true);
	while ((cause = guest_run(&c, 100)) == CAUSE_TIMER)
		exits++;
	check_eq(cause, CAUSE_LCOFI, "LCOFI after exits with the counter left running");
	check(exits == 4 || exits == 5, "  with timer exits before");
	check_eq(done(&c, 100000), 50000, "  at the exact instruction");
	csr_clear(sip, LCOFI);
	way->stop(1UL << ctr);
}

/*
 * The instruction that leaves the guest itself makes the counter wrap. The emulator's timer may
 * then come after a stop, and ignores a stopped counter. So the value counts, not OF.
 */
static void wrap_at_exit(const struct way *way, uint32_t ctr, uint64_t late)
{
	struct ctx c;
	uint64_t cause, sip0, ovf0, sip1, ovf1;

	guest_init(&c, guest_loop, 500);
	way->start(ctr, -1001UL + late, true);
	cause = guest_run(&c, 0);
	sip0 = csr_read(sip);
	ovf0 = ovf();
	way->stop(1UL << ctr);
	sip1 = csr_read(sip);
	ovf1 = ovf();
	print("%s: %u instructions past the wrap, cause 0x%x:", way->name, late, cause);
	print(" pending/OF at the exit %u/%u, after stop %u/%u\n", sip0 >> 13 & 1, ovf0 >> ctr & 1,
	      sip1 >> 13 & 1, ovf1 >> ctr & 1);
	check_eq(hpm_read(ctr), late, "the value tells of a wrap in the last instruction");
	csr_clear(sip, LCOFI);
}

void test_overflow(const struct way *way)
{
	static const uint32_t ctr[2] = {CTR_CYCLES, CTR_INSTR};

	csr_set(sie, LCOFI);
	for (int i = 0; i < 2; i++) {
		print("%s: overflow, counter %u\n", way->name, (uint64_t)ctr[i]);
		way->config(ctr[i], i + 1);
		expect_silence(way, ctr[i], BAD_START, "unarmed far start");
		expect_silence(way, ctr[i], -1000UL, "unarmed near start wraps in silence");
		expect_lcofi(way, ctr[i], 1000, "armed start after unarmed ones");
		expect_lcofi(way, ctr[i], 999, "armed again");
		lcofi_across_switch(way, ctr[i], false);
		lcofi_across_switch(way, ctr[i], true);
		lcofi_across_exits(way, ctr[i]);
		wrap_at_exit(way, ctr[i], 0);
		csr_clear(sie, LCOFI);
		wrap_at_exit(way, ctr[i], 1);
		csr_set(sie, LCOFI);
		/*
		 * The firmware clears OF at an armed start, and sets it only when it configures. So
		 * an unarmed start after an armed one needs the counter to be released and
		 * configured.
		 */
		if (way == &way_sbi) {
			way->start(ctr[i], 0, true);
			way->stop(1UL << ctr[i]);
			way->start(ctr[i], 0, false);
			print("sbi: OF after armed, stop, unarmed: %u\n", ovf() >> ctr[i] & 1);
			way->stop(1UL << ctr[i]);
			pmu_stop(1UL << ctr[i], SBI_PMU_STOP_FLAG_RESET);
			way->config(ctr[i], i + 1);
		}
		expect_silence(way, ctr[i], BAD_START, "unarmed far start after armed ones");
		expect_lcofi(way, ctr[i], 1001, "armed start after that");
		way->release(ctr[i]);
	}
	csr_clear(sie, LCOFI);
}

/* Values and filters of a counter, and changes of the filter. */
void test_values(const struct way *way)
{
	struct ctx c;
	uint64_t before;

	print("%s: values and filters\n", way->name);
	way->config(CTR_INSTR, 0x2);
	guest_init(&c, guest_loop, 500);
	way->start(CTR_INSTR, 0x1122334455667788UL, false);
	check_eq(hpm_read(CTR_INSTR), 0x1122334455667788UL, "HS work is not counted");
	guest_run(&c, 0);
	check_eq(hpm_read(CTR_INSTR), 0x1122334455667788UL + 1001, "running: read by CSR");
	way->stop(1UL << CTR_INSTR);
	check_eq(hpm_read(CTR_INSTR), 0x1122334455667788UL + 1001, "stopped: keeps its value");
	before = hpm_read(CTR_INSTR);
	guest_init(&c, guest_loop, 500);
	guest_run(&c, 0);
	check_eq(hpm_read(CTR_INSTR), before, "stopped: VS work is not counted");
	guest_init(&c, guest_loop, 500);
	way->resume(1UL << CTR_INSTR, false);
	guest_run(&c, 0);
	way->stop(1UL << CTR_INSTR);
	check_eq(hpm_read(CTR_INSTR), before + 1001, "resumed: goes on from its value");

	/* A second start with the opposite filter: VS inhibited, VU counted. */
	if (way == &way_sbi) {
		pmu_stop(1UL << CTR_INSTR, SBI_PMU_STOP_FLAG_RESET);
		pmu_config(CTR_INSTR, 0x2, (VS_ONLY | SBI_PMU_CFG_FLAG_SET_VSINH) & ~8UL);
		check(sbi(SBI_EXT_PMU, 3, 0, 1UL << CTR_INSTR, 1, 77, 0).error == 0, "sbi: start");
	} else {
		csr_write(CSR_SISELECT, 0x40 + CTR_INSTR);
		csr_write(CSR_SIREG2,
		          ssccfg_selector(0x2) | EVENT_OF | EVENT_SINH | EVENT_UINH | EVENT_VSINH);
		csr_write(CSR_SIREG, 77);
		csr_clear(CSR_SCOUNTINHIBIT, 1UL << CTR_INSTR);
	}
	guest_init(&c, guest_loop, 500);
	guest_run(&c, 0);
	check_eq(hpm_read(CTR_INSTR), 77, "VU-only filter: VS is not counted");
	guest_init(&c, guest_loop, 500);
	c.sstatus &= ~(1UL << 8); /* SPP: to VU; its ecall has cause 8 */
	check_eq(guest_run(&c, 0), 8, "VU ecall reaches HS");
	way->stop(1UL << CTR_INSTR);
	check_eq(hpm_read(CTR_INSTR), 77 + 1001, "VU-only filter: VU is exact");
	way->release(CTR_INSTR);
}
