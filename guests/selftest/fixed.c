/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters 0 and 2, if they exist. Their CSRs are `cycle` and `instret`, so the caller cannot
 * choose their events.
 */
#include "guests/selftest/table.h"

#include "guests/lib/csr.h"
#include "guests/lib/trap.h"

#define SINH  SBI_PMU_CFG_FLAG_SET_SINH
#define VALUE 0x8000000000000001UL

static const struct pmu_case cycle[] = {
    CONFIG("instructions on counter 0 -> NOT_SUPPORTED", 0, 1, 0, EVENT_INSTRUCTIONS, 0,
           SBI_ERR_NOT_SUPPORTED, 0),
    CONFIG("a cache event on counter 0 -> NOT_SUPPORTED", 0, 1, 0, W_EVENT, 0,
           SBI_ERR_NOT_SUPPORTED, 0),
    CONFIG("cycles on counter 0", 0, 1, SINH, EVENT_CYCLES, 0, 0, 0),
    START("counter 0", 0, 1, SBI_PMU_START_SET_INIT_VALUE, VALUE, 0),
};

static const struct pmu_case instret[] = {
    CONFIG("cycles on counter 2 -> NOT_SUPPORTED", 0, 4, 0, EVENT_CYCLES, 0, SBI_ERR_NOT_SUPPORTED,
           0),
    CONFIG("instructions on counter 2", 0, 4, SINH, EVENT_INSTRUCTIONS, 0, 0, 2),
    START("counter 2", 0, 4, SBI_PMU_START_SET_INIT_VALUE, VALUE, 0),
};

void test_fixed(void)
{
	if (!(fw.fixed & 1)) {
		report_skip("11.7", "counter 0", "there is none");
	} else {
		run_rows(cycle, sizeof(cycle) / sizeof(cycle[0]));
		report_eq(csr_read(CSR_CYCLE), VALUE & fw.value_mask, "11.9",
		          "start: cycle reads what counter 0 holds");
		report_eq(pmu_stop(1), 0, "11.10", "stop: counter 0");
		pmu_reset(1);
	}
	if (!(fw.fixed & 4)) {
		report_skip("11.7", "counter 2", "there is none");
	} else {
		run_rows(instret, sizeof(instret) / sizeof(instret[0]));
		report_eq(csr_read(CSR_INSTRET), VALUE & fw.value_mask, "11.9",
		          "start: instret reads what counter 2 holds");
		report_eq(pmu_stop(4), 0, "11.10", "stop: counter 2");
		pmu_reset(4);
	}
}
