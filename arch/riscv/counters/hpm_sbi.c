/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The back end that drives counters through the firmware's SBI PMU. Configuring calls have masks of
 * one bit, because Tally chooses the counter. Starts and stops may have several counters in one
 * call. The firmware returns only the error of the last counter of a mask, so if such a call fails,
 * it is repeated for each counter. After boot a hart does not use hpm_ssccfg.h as well, because the
 * firmware does not see accesses to delegated counters.
 */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/hart/port.h"

bool hpm_sbi_program(struct hpm *hpm, uint32_t hctr, const struct hw_event *config)
{
	uint32_t event_idx = hpm_firmware_event(config->event_idx, config->event_data);

	if (event_idx == HPM_NO_RAW)
		return false;
	/* Only RESET frees a counter for another event or filter, and removes QEMU's record of the
	 * event's counter. */
	if (hpm->slots[hctr].programmed)
		hpm_sbi_reset(hctr);
	/* OpenSBI may return a fixed counter that is not in the mask. */
	return hpm_sbi_configure(hctr, hpm_sbi_filter(config->inhibit), event_idx,
	                         config->event_data);
}

/* The contents of the counters are unknown now. Their slots lose their events, so the counters are
 * reset and configured before the next use. */
static __attribute__((noinline)) void fail(struct hpm *hpm, uint64_t hctrs)
{
	uint32_t i;

	hpm->failed |= hctrs;
	hpm_failed();
	hpm->armed &= ~hctrs;
	for_each_bit (i, hctrs)
		hpm->slots[i].config = (struct hw_event){0};
}

static void fail_start(struct hpm *hpm, uint64_t hctrs)
{
	hpm->unstarted |= hctrs;
	fail(hpm, hctrs);
}

__attribute__((noinline)) void hpm_sbi_start_each(struct hpm *hpm, uint64_t hctrs, uint64_t flags,
                                                  uint64_t value, bool armed)
{
	uint32_t i;

	for_each_bit (i, hctrs) {
		hpm_sbi_stop_call(BIT(i));
		if (hpm_sbi_start_call(BIT(i), flags, value, armed))
			continue;
		hpm_sbi_stop_call(BIT(i));
		fail_start(hpm, BIT(i));
	}
}

static __attribute__((noinline)) void stop_each(struct hpm *hpm, uint64_t hctrs)
{
	uint32_t i;

	for_each_bit (i, hctrs) {
		if (!hpm_sbi_stop_call(BIT(i)))
			fail(hpm, BIT(i));
	}
}

__attribute__((noinline)) void hpm_sbi_stop(struct hpm *hpm, uint64_t hctrs)
{
	if (__builtin_expect(!hpm_sbi_stop_call(hctrs), 0))
		stop_each(hpm, hctrs);
}

/* Not inlined, for callers for which a few instructions more do not matter. */
static __attribute__((noinline)) void start(struct hpm *hpm, uint64_t hctrs, uint64_t flags,
                                            uint64_t value, bool armed)
{
	hpm_sbi_start_at(hpm, hctrs, flags, value, armed);
}

/* Whether OF is set although the counter has not wrapped. This happens if an LCOFI became pending
 * just before the start, which then did not clear OF. */
static bool started_stale(uint32_t hctr, uint64_t value)
{
	return (csr_read(CSR_SCOUNTOVF) & BIT(hctr)) && hpm_read(hctr) >= value;
}

void hpm_sbi_clear_flags(struct hpm *hpm, uint64_t hctrs, uint64_t value)
{
	start(hpm, hctrs, SBI_PMU_START_SET_INIT_VALUE, value, true);
}

/*
 * QEMU: after a start far from the wrap with OF = 0, the first expiry of the counter's timer may be
 * lost. So the timer must expire here once: the counter starts one count before its wrap. It does
 * not count HS, but the timer ignores filters.
 */
static void spend_alarm(struct hpm *hpm, uint32_t hctr)
{
	if (!hpm->far_loses || !(hpm->far & BIT(hctr)))
		return;
	hpm->far &= ~BIT(hctr);
	hpm_sbi_clear_flags(hpm, BIT(hctr), ~0UL);
	hpm_sbi_stop(hpm, BIT(hctr));
}

static inline void start_armed(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	hpm_sbi_start_at(hpm, BIT(hctr), SBI_PMU_START_SET_INIT_VALUE, value, true);
	/* This happens only while other counters count HS. One repetition is usually enough. */
	for (int i = 0; i < 3 && started_stale(hctr, value); i++) {
		hpm_sbi_stop(hpm, BIT(hctr));
		start(hpm, BIT(hctr), SBI_PMU_START_SET_INIT_VALUE, value, true);
	}
}

/* A counter that already has the value and OF needs no initial value. One call can start several of
 * these. */
static void set(struct hpm *hpm, uint32_t hctr, uint64_t value, bool armed)
{
	uint64_t bit = BIT(hctr);
	/* OF is 1 in the hart, where the guest sees it, and must be 0. */
	bool flagged = hpm->hart_flags && armed && csr_read(CSR_SCOUNTOVF) & bit;

	if (armed == ((hpm->armed & bit) != 0) && hpm_read(hctr) == value && !flagged) {
		hpm->dirty &= ~bit;
		return;
	}
	hpm->slots[hctr].value = value;
	hpm->dirty |= bit;
	hpm->armed = armed ? hpm->armed | bit : hpm->armed & ~bit;
	/* OF is 0 in a counter that was armed and did not overflow, and must be 1. Newer firmware
	 * sets it at each start; with older firmware only a configuration does. */
	if (!armed && !hpm->start_sets_flag && !(csr_read(CSR_SCOUNTOVF) & bit) &&
	    !(hpm->fixed & bit) && !hpm_sbi_program(hpm, hctr, &hpm->slots[hctr].config))
		fail_start(hpm, bit);
}

void hpm_sbi_set(struct hpm *hpm, uint64_t hctrs, uint64_t value, bool armed)
{
	uint32_t i;

	if (hpm->hart_flags && !(hpm->shown & hctrs))
		armed = true;
	for_each_bit (i, hctrs)
		set(hpm, i, value, armed && (hpm->may_arm & BIT(i)));
}

/* Starts, with one call, those of these unarmed counters that have the same initial value as the
 * first. Returns them. */
static uint64_t start_together(struct hpm *hpm, uint64_t hctrs)
{
	uint64_t value = hpm->slots[lowest_bit(hctrs)].value;
	uint64_t together = 0;
	uint32_t i;

	for_each_bit (i, hctrs) {
		if (hpm->slots[i].value == value)
			together |= BIT(i);
	}
	start(hpm, together, SBI_PMU_START_SET_INIT_VALUE, value, false);
	return together;
}

__attribute__((noinline)) void hpm_sbi_start_armed(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	hpm->dirty &= ~BIT(hctr);
	hpm->armed |= BIT(hctr);
	start_armed(hpm, hctr, value);
}

static __attribute__((noinline)) void start_near(struct hpm *hpm, uint32_t hctr, uint64_t value)
{
	spend_alarm(hpm, hctr);
	start_armed(hpm, hctr, value);
}

static __attribute__((noinline)) void run_any(struct hpm *hpm, uint64_t hctrs)
{
	uint64_t again = hctrs & ~hpm->dirty;
	uint64_t cleared = again & hpm->armed;
	uint64_t unarmed = hctrs & hpm->dirty & ~hpm->armed;
	uint32_t i;

	hpm->dirty &= ~hctrs;
	/* The guest must continue to see OF = 1 of counters that have wrapped since they were
	 * set. */
	cleared &= ~hpm->shown;
	if (cleared)
		start(hpm, cleared, 0, 0, true);
	if (again & ~cleared)
		start(hpm, again & ~cleared, 0, 0, false);
	while (unarmed)
		unarmed &= ~start_together(hpm, unarmed);
	for_each_bit (i, hctrs & ~again & hpm->armed) {
		uint64_t value = hpm->slots[i].value;

		if (hpm->hart_flags && value < HPM_NEAR) {
			hpm->far |= BIT(i);
			start(hpm, BIT(i), SBI_PMU_START_SET_INIT_VALUE, value, true);
		} else {
			start_near(hpm, i, value);
		}
	}
}

void hpm_sbi_run(struct hpm *hpm, uint64_t hctrs)
{
	if (!(hctrs & (hpm->dirty | hpm->armed)))
		hpm_sbi_start_at(hpm, hctrs, 0, 0, false);
	else if (hpm->hart_flags && !(hctrs & (hpm->dirty | ~hpm->armed | hpm->shown)))
		hpm_sbi_start_at(hpm, hctrs, 0, 0, true);
	else
		run_any(hpm, hctrs);
}
