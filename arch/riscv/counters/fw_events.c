/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/counters/fw_events.h"
#include "arch/riscv/hart/sbi.h"
#include "core/panic.h"

/* Returns a mask of the firmware counters among the first 64 counters. */
static uint64_t find_counters(void)
{
	uint64_t n = sbi_call(SBI_EXT_PMU, SBI_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value;
	uint64_t mask = 0;

	for (uint64_t i = 0; i < n && i < 64; i++) {
		struct sbi_ret ret = sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);

		if (ret.error == SBI_SUCCESS && (ret.value & SBI_PMU_INFO_TYPE_FW))
			mask |= BIT(i);
	}
	return mask;
}

void fw_events_init(struct fw_events *fw)
{
	uint64_t free;

	*fw = (struct fw_events){.codes = 0};
	if (!sbi_probe(SBI_EXT_PMU))
		return;
	free = find_counters();
	for (uint32_t code = 0; code < FW_EVENTS_M && free; code++) {
		/* Base 0 with a mask, because OpenSBI up to 1.6 does not handle other bases
		 * correctly. */
		struct sbi_ret ret = sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING, 0, free,
		                              0, (uint64_t)SBI_PMU_TYPE_FW << 16 | code, 0);

		if (ret.error != SBI_SUCCESS || ret.value >= 64 || !(free & BIT(ret.value)))
			continue;
		free &= ~BIT(ret.value);
		if (sbi_call(SBI_EXT_PMU, SBI_PMU_COUNTER_START, 0, BIT(ret.value),
		             SBI_PMU_START_SET_INIT_VALUE, 0, 0)
		        .error)
			continue;
		fw->counter_idx[code] = (uint32_t)ret.value;
		fw->codes |= 1U << code;
	}
}

uint64_t fw_events_read(const struct fw_events *fw, uint32_t code)
{
	/* Guests' counts are differences of these counters, so a counter that does not start cannot
	 * be replaced. */
	for (int i = 0; i < 8; i++) {
		struct sbi_ret ret = sbi_call_in_stay(SBI_EXT_PMU, SBI_PMU_COUNTER_FW_READ,
		                                      fw->counter_idx[code], 0, 0, 0, 0);

		if (ret.error == SBI_SUCCESS)
			return ret.value;
	}
	platform_lacks("the firmware does not read its firmware counter %u", fw->counter_idx[code]);
}
