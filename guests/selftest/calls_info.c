/* SPDX-License-Identifier: Apache-2.0 */
/* Sections 11.6 and 11.7: the number of counters, and the kind of each. */
#include "guests/selftest/table.h"

#include "guests/lib/csr.h"
#include "guests/lib/print.h"

static const struct pmu_case cases[] = {
    CALL("11.6", "num_counters: arguments are ignored", SBI_PMU_NUM_COUNTERS, ~0UL, ~0UL, ~0UL,
         ~0UL, ~0UL, SBI_SUCCESS, W_COUNTERS),
    CALL("11.7", "get_info: counter 1, which would be time -> INVALID_PARAM",
         SBI_PMU_COUNTER_GET_INFO, 1, 0, 0, 0, 0, SBI_ERR_INVALID_PARAM, 0),
    CALL("11.7", "get_info: one past the last -> INVALID_PARAM", SBI_PMU_COUNTER_GET_INFO,
         W_COUNTERS, 0, 0, 0, 0, SBI_ERR_INVALID_PARAM, 0),
    CALL("11.7", "get_info: counter 64 -> INVALID_PARAM", SBI_PMU_COUNTER_GET_INFO, 64, 0, 0, 0, 0,
         SBI_ERR_INVALID_PARAM, 0),
    CALL("11.7", "get_info: counter 2^32 + 3 -> INVALID_PARAM", SBI_PMU_COUNTER_GET_INFO,
         0x100000003UL, 0, 0, 0, 0, SBI_ERR_INVALID_PARAM, 0),
    CALL("11.7", "get_info: counter 2^63 -> INVALID_PARAM", SBI_PMU_COUNTER_GET_INFO, 1UL << 63, 0,
         0, 0, 0, SBI_ERR_INVALID_PARAM, 0),
    CALL("11.7", "get_info: counter 2^64 - 1 -> INVALID_PARAM", SBI_PMU_COUNTER_GET_INFO, ~0UL, 0,
         0, 0, 0, SBI_ERR_INVALID_PARAM, 0),
};

/* For every index: the CSR belongs to the index, and no reserved bit is set. */
static void every_counter(void)
{
	for (uint64_t i = 0; i < fw.counters; i++) {
		struct sbiret r = sbi_pmu(SBI_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);
		uint64_t width = (r.value >> SBI_PMU_INFO_WIDTH_SHIFT & 63) + 1;
		bool ok;

		if (r.error) {
			ok = r.error == SBI_ERR_INVALID_PARAM;
			print("get_info %u: no such counter\n", i);
		} else if (r.value & SBI_PMU_INFO_TYPE_FW) {
			ok = i >= 3;
			print("get_info %u: firmware\n", i);
		} else {
			ok = (r.value & 0xfff) == CSR_CYCLE + i && i < 32 && r.value >> 18 == 0;
			print("get_info %u: CSR 0x%x, %u bits\n", i, r.value & 0xfff, width);
		}
		if (!ok)
			report(false, "11.7", "get_info: every index is well-formed");
	}
	report(true, "11.7", "get_info: all indices asked");
}

void test_calls_info(void)
{
	every_counter();
	RUN_TABLE(cases);
}
