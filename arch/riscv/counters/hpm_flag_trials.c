/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes at boot how OF bits can be shown to a guest on a hart without Ssccfg, where its reads of
 * scountovf cannot trap: whether hcounteren hides them (Sscofpmf, "Supervisor Count Overflow"), how
 * a start changes OF, and whether a start far from the wrap loses the next overflow.
 */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/quirks.h"

extern const char vs_scountovf_at[]; /* vs_run.S */

/* Returns scountovf as VS reads it with these counters open in hcounteren; ~0: the read traps. */
static uint64_t shown(uint64_t hctrs)
{
	csr_write(CSR_HCOUNTEREN, hctrs);
	struct vs_end end = vs_run((uint64_t)vs_scountovf_at, 0, 0, 0);

	return end.scause == CAUSE_ECALL_VS ? end.a1 : ~0UL;
}

bool hpm_probe_flags_hidden(const struct hpm *hpm)
{
	uint64_t hcounteren = csr_read(CSR_HCOUNTEREN);
	uint64_t hctrs = 0;
	bool hides;
	uint32_t i;

	for (i = 0; i < hpm->n_events; i++)
		hctrs |= hpm->events[i].hctrs;
	/* If an OF is not 1, the trial cannot work. */
	hides =
	    hctrs && !(hctrs & ~csr_read(CSR_SCOUNTOVF)) && !shown(0) && !(shown(~hctrs) & hctrs);
	for_each_bit (i, hctrs)
		hides = hides && shown(BIT(i)) == BIT(i);
	csr_write(CSR_HCOUNTEREN, hcounteren);
	return hides;
}

/* The counter must be stopped. */
static bool start_sets_flag(struct hpm *hpm, uint32_t hctr)
{
	bool sets;

	hpm_sbi_clear_flags(hpm, BIT(hctr), HPM_NEAR);
	hpm_sbi_stop(hpm, BIT(hctr));
	if (hpm_flag(hctr))
		return false;
	hpm_sbi_start(hpm, BIT(hctr), HPM_NEAR);
	sets = hpm_flag(hctr);
	hpm_sbi_stop(hpm, BIT(hctr));
	return sets;
}

/* Without -icount, QEMU's timers follow the host's clock. */
bool hpm_wait_for_lcofi(uint64_t patience)
{
	uint64_t end = csr_read(CSR_TIME) + patience;

	do { /* WAITS */
		if (csr_read(CSR_SIP) & BIT(IRQ_LCOFI))
			return true;
	} while (csr_read(CSR_TIME) < end);
	return false;
}

/* Whether a stopped counter that counts HS interrupts when it is armed near its wrap, after a start
 * at `elsewhere`. Stops it again, and leaves no LCOFI pending. */
static bool interrupts_after(struct hpm *hpm, uint32_t hctr, uint64_t elsewhere, uint64_t patience)
{
	const uint64_t values[] = {elsewhere, -HPM_TRIAL_PERIOD};
	uint64_t all = hpm->width < 64 ? BIT(hpm->width) - 1 : ~0UL;
	bool comes = false;

	hpm->hart_flags = true; /* otherwise no start far from the wrap has OF = 0 */
	for (uint32_t i = 0; i < ARRAY_SIZE(values); i++) {
		hpm_set_and_run(hpm, BIT(hctr), values[i] & all, true);
		comes = i && hpm_wait_for_lcofi(patience);
		hpm_stop(hpm, BIT(hctr));
	}
	hpm->hart_flags = false;
	hpm->far = 0;
	return (hpm_take_overflow(hpm) & BIT(hctr)) && comes;
}

static const char *far_starts(struct hpm *hpm, uint32_t hctr, uint64_t patience)
{
	static const uint64_t far[] = {3UL << 61, 1UL << 62 | 1UL << 36, 1UL << 63, 0};
	uint64_t before = csr_read(CSR_TIME);
	bool comes = interrupts_after(hpm, hctr, HPM_NEAR, patience);
	/* Waits up to twice as long as that took. If an interrupt came even later, the only loss
	 * would be the calls of an unnecessary workaround. */
	uint64_t soon = 2 + 2 * (csr_read(CSR_TIME) - before);

	for (uint32_t i = 0; comes && !hpm->far_loses && i < ARRAY_SIZE(far); i++) {
		hpm->far_loses = !interrupts_after(hpm, hctr, far[i], soon);
		if (hpm->far_loses)
			comes = interrupts_after(hpm, hctr, far[i], patience);
	}
	return comes ? NULL : "an overflow that a start far from the wrap loses";
}

const char *hpm_probe_flag_starts(struct hpm *hpm, uint32_t hctr, uint64_t patience)
{
	hpm->start_sets_flag = start_sets_flag(hpm, hctr);
	return far_starts(hpm, hctr, patience);
}
