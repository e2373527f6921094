/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code of known length, counted while a device of this VM works and cannot interrupt it: what the
 * machine's interrupt does beneath this guest must not show.
 */
#include "guests/bare/bare.h"

static bool is_exact(uint64_t hw, uint64_t event, uint64_t length)
{
	struct sbiret r = pmu_config(hw, 0, event);
	uint32_t ctr = (uint32_t)r.value;
	uint64_t count, enabled;

	if (r.error || pmu_start(BIT(ctr), 0x8000000000000001UL))
		return false;
	enabled = csr_read(sstatus) & SSTATUS_SIE;
	csr_clear(sstatus, SSTATUS_SIE);
	count = segment_of(ctr)(length);
	csr_set(sstatus, enabled);
	return !pmu_reset(BIT(ctr)) && count == 2 * length + 1;
}

uint64_t counted_wrong(uint64_t length)
{
	static uint64_t hw;

	if (!hw)
		hw = find_counters().hw;
	return !is_exact(hw, EVENT_INSTRUCTIONS, length) + !is_exact(hw, EVENT_CYCLES, length);
}
