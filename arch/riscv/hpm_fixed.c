/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fixed counters, cycle and instret: neither has a selector or an OF. HS counts itself with
 * instret, which runs from boot and without a filter of its own; from take to release it is a guest's,
 * and stands still in HS. Nobody else needs cycle.
 */
#include "arch/riscv/hpm_backend.h"
#include "arch/riscv/sbi.h"

#define CYCLE   0U
#define INSTRET 2U

/* UINH and SINH are HS's own, as in hpm_sbi_program(). */
#define FLAGS_GUEST                                                                                \
	(SBI_PMU_CFG_FLAG_SET_MINH | SBI_PMU_CFG_FLAG_SET_SINH | SBI_PMU_CFG_FLAG_SET_UINH)

static uint32_t event_of(uint32_t hctr)
{
	return hctr == CYCLE ? SBI_PMU_HW_CPU_CYCLES : SBI_PMU_HW_INSTRUCTIONS;
}

static bool sbi_take(uint32_t hctr, uint64_t flags)
{
	struct sbi_ret ret;

	sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_STOP, hctr, 1, 0, 0, 0);
	/* With no other counter in the set the firmware takes the fixed one, again and again. */
	ret = sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING, hctr, 1, flags, event_of(hctr),
	               0);
	return ret.error == SBI_SUCCESS && ret.value == hctr;
}

static void sbi_run(uint32_t hctr)
{
	sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_START, hctr, 1, 0, 0, 0);
}

static void ssccfg_take(uint32_t hctr, uint64_t filter)
{
	csr_set(CSR_SCOUNTINHIBIT, BIT(hctr));
	csr_write(CSR_SISELECT, SISELECT_COUNTER0 + hctr);
	csr_write(CSR_SIREG2, filter);
}

void hpm_fixed_take(struct hpm *hpm, uint32_t hctr, const struct hpm_config *config)
{
	uint64_t flags = FLAGS_GUEST;
	uint64_t filter = MHPMEVENT_SINH | MHPMEVENT_UINH;

	hpm->slots[hctr].config = *config;
	hpm->armed &= ~BIT(hctr);
	if (config->inhibit & HPM_INH_VS) {
		flags |= SBI_PMU_CFG_FLAG_SET_VSINH;
		filter |= MHPMEVENT_VSINH;
	}
	if (config->inhibit & HPM_INH_VU) {
		flags |= SBI_PMU_CFG_FLAG_SET_VUINH;
		filter |= MHPMEVENT_VUINH;
	}
	if (hpm->delegated)
		ssccfg_take(hctr, filter);
	else
		sbi_take(hctr, flags);
}

void hpm_fixed_release(const struct hpm *hpm, uint64_t hctrs)
{
	if (!(hctrs & BIT(INSTRET)))
		return;
	if (hpm->delegated) {
		ssccfg_take(INSTRET, 0);
		csr_clear(CSR_SCOUNTINHIBIT, BIT(INSTRET));
	} else {
		sbi_take(INSTRET, 0);
		sbi_run(INSTRET);
	}
}

static bool moves_in_hs(uint32_t hctr)
{
	uint64_t before = hpm_read(hctr);

	for (volatile int i = 0; i < 100; i++)
		;
	return hpm_read(hctr) != before;
}

/* Does it stand still in HS when it is to, and count when it is to? It counts HS afterwards. */
static bool filters_by_sbi(uint32_t hctr)
{
	bool still = sbi_take(hctr, FLAGS_GUEST);

	sbi_run(hctr);
	still = still && !moves_in_hs(hctr);
	sbi_take(hctr, 0);
	sbi_run(hctr);
	return still && moves_in_hs(hctr);
}

static bool filters_delegated(uint32_t hctr)
{
	bool still;

	ssccfg_take(hctr, MHPMEVENT_SINH | MHPMEVENT_UINH);
	csr_clear(CSR_SCOUNTINHIBIT, BIT(hctr));
	still = !moves_in_hs(hctr);
	ssccfg_take(hctr, 0);
	csr_clear(CSR_SCOUNTINHIBIT, BIT(hctr));
	return still && moves_in_hs(hctr);
}

/* The firmware's part is to set MINH, which it always does and nobody else can. */
static bool has_filters(const struct hpm *hpm, uint32_t hctr)
{
	return hpm_event_find(hpm, event_of(hctr)) && filters_by_sbi(hctr) &&
	       (!hpm->delegated || filters_delegated(hctr));
}

uint64_t hpm_fixed_probe(const struct hpm *hpm)
{
	return (has_filters(hpm, CYCLE) ? BIT(CYCLE) : 0) |
	       (has_filters(hpm, INSTRET) ? BIT(INSTRET) : 0);
}
