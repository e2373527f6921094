/* SPDX-License-Identifier: Apache-2.0 */
/* Spins for ticks=, and says how many of these ticks Tally calls stolen. */
#include "guests/bare/bare.h"

#define STEAL_TICKS 266UL /* docs/events.md */

int steal(uint64_t hartid)
{
	struct sbiret r = pmu_config(find_counters().fw, 0, SBI_PMU_TYPE_FW << 16 | STEAL_TICKS);
	uint64_t start = csr_read(time), stolen;

	(void)hartid;
	if (r.error || pmu_start(BIT(r.value), 0))
		return 1;
	while (!time_is_up())
		for (volatile unsigned i = 0; i < 1000; i++)
			;
	stolen = sbi_pmu(SBI_PMU_COUNTER_FW_READ, r.value, 0, 0, 0, 0).value;
	print("steal: %u of %u\n", stolen, csr_read(time) - start);
	return 0;
}
