/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two ways to drive a counter. Both follow the rules that the emulator and the firmware
 * require: no LCOFI may be pending when a counter is started armed (the firmware would leave OF
 * set, and the counter would not interrupt), and a counter that is not armed is started with OF
 * set, so that the emulator arms no timer for it.
 */
#include "tests/spike/spike.h"

static const uint32_t events[] = {0x1, 0x2, 0x10019, 0x1001b, 0x10021};
static uint64_t selectors[5];

long pmu_config(uint32_t ctr, uint32_t event, unsigned long flags)
{
	struct sbiret r =
	    sbi(SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING, 0, 1UL << ctr, flags, event, 0);

	/* The firmware may return a counter that is not in the mask. */
	return r.error ? r.error : r.value == (long)ctr ? 0 : -100;
}

long pmu_start(uint64_t ctrs, unsigned long flags, uint64_t value)
{
	return sbi(SBI_EXT_PMU, SBI_PMU_COUNTER_START, 0, ctrs, flags, value, 0).error;
}

long pmu_stop(uint64_t ctrs, unsigned long flags)
{
	return sbi(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, 0, ctrs, flags, 0, 0).error;
}

void hpm_scrub(void)
{
	for (uint32_t ctr = 3; ctr <= 18; ctr++) {
		pmu_config(ctr, 0x2, VS_ONLY);
		pmu_start(1UL << ctr, SBI_PMU_START_SET_INIT_VALUE, 0);
		pmu_stop(1UL << ctr, SBI_PMU_STOP_FLAG_RESET);
	}
}

/* sbi */

static bool sbi_config(uint32_t ctr, uint32_t event)
{
	return pmu_config(ctr, event, VS_ONLY) == 0;
}

static bool sbi_begin(uint64_t ctrs, unsigned long flags, uint64_t value, bool armed)
{
	long error;

	if (armed) {
		csr_clear(sip, LCOFI);
		return pmu_start(ctrs, flags, value) == 0;
	}
	csr_set(sip, LCOFI);
	error = pmu_start(ctrs, flags, value);
	csr_clear(sip, LCOFI);
	return error == 0;
}

static bool sbi_start(uint32_t ctr, uint64_t value, bool armed)
{
	return sbi_begin(1UL << ctr, SBI_PMU_START_SET_INIT_VALUE, value, armed);
}

static bool sbi_resume(uint64_t ctrs, bool armed)
{
	return sbi_begin(ctrs, 0, 0, armed);
}

static bool sbi_stop(uint64_t ctrs)
{
	return pmu_stop(ctrs, 0) == 0;
}

static bool sbi_release(uint32_t ctr)
{
	pmu_stop(1UL << ctr, SBI_PMU_STOP_FLAG_RESET);
	return true;
}

const struct way way_sbi = {"sbi", sbi_config, sbi_start, sbi_resume, sbi_stop, sbi_release};

/* ssccfg: the delegated registers of counter n are at siselect 0x40 + n */

static uint64_t held[32]; /* what sireg2 of each counter holds, without OF */

bool ssccfg_learn(void)
{
	for (size_t i = 0; i < 5; i++) {
		uint32_t ctr = 17;

		if (pmu_config(ctr, events[i], VS_ONLY))
			return false;
		csr_write(CSR_SISELECT, 0x40 + ctr);
		selectors[i] = csr_read(CSR_SIREG2);
		pmu_stop(1UL << ctr, SBI_PMU_STOP_FLAG_RESET);
		print("selector of event 0x%x: sireg2 0x%x\n", (uint64_t)events[i], selectors[i]);
	}
	return true;
}

/*
 * The delegated registers can neither read nor write MINH, and RESET clears it. A counter that the
 * firmware has not configured afterwards would count M-mode. So the firmware configures each
 * counter once more, and it is not released again.
 */
bool ssccfg_adopt(uint32_t ctr, uint32_t event)
{
	return pmu_config(ctr, event, VS_ONLY) == 0;
}

uint64_t ssccfg_selector(uint32_t event)
{
	for (size_t i = 0; i < 5; i++)
		if (events[i] == event)
			return selectors[i] & 0x00ffffffffffffffUL;
	return 0;
}

static bool ssccfg_config(uint32_t ctr, uint32_t event)
{
	held[ctr] = ssccfg_selector(event) | EVENT_VS_ONLY;
	csr_write(CSR_SISELECT, 0x40 + ctr);
	csr_write(CSR_SIREG2, held[ctr] | EVENT_OF);
	csr_write(CSR_SIREG, 0);
	return true;
}

static bool ssccfg_start(uint32_t ctr, uint64_t value, bool armed)
{
	csr_write(CSR_SISELECT, 0x40 + ctr);
	csr_write(CSR_SIREG2, held[ctr] | (armed ? 0 : EVENT_OF));
	csr_write(CSR_SIREG, value);
	csr_clear(CSR_SCOUNTINHIBIT, 1UL << ctr);
	return true;
}

/* OF is as the start left it. It must be written only if a wrap has set it. */
static bool ssccfg_resume(uint64_t ctrs, bool armed)
{
	(void)armed;
	csr_clear(CSR_SCOUNTINHIBIT, ctrs);
	return true;
}

static bool ssccfg_stop(uint64_t ctrs)
{
	csr_set(CSR_SCOUNTINHIBIT, ctrs);
	return true;
}

static bool ssccfg_release(uint32_t ctr)
{
	csr_set(CSR_SCOUNTINHIBIT, 1UL << ctr);
	return true;
}

const struct way way_ssccfg = {"ssccfg",      ssccfg_config, ssccfg_start,
                               ssccfg_resume, ssccfg_stop,   ssccfg_release};
