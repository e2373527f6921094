/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware events and counters, in the terms that the vPMU, its port and the hart's driver
 * (arch/riscv/counters/hpm.h) share.
 */
#ifndef VPMU_HW_EVENT_H
#define VPMU_HW_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/sbi_pmu.h"

/*
 * Hardware counters have the numbers of their CSRs: 0 is cycle, 2 is instret, 3..31 are
 * hpmcounter3..31. HCTRS_* are sets of them. The fixed counters raise no overflow interrupt.
 */
#define HCTR_CYCLE    0U
#define HCTR_INSTRET  2U
#define HCTRS_CYCLE   (UINT64_C(1) << HCTR_CYCLE)
#define HCTRS_INSTRET (UINT64_C(1) << HCTR_INSTRET)
#define HCTRS_FIXED   (HCTRS_CYCLE | HCTRS_INSTRET)

/* Modes that a counter does not count. The four combinations of HW_INH_* are the filters that a
 * guest can ask for. */
#define HW_INH_VS 1U
#define HW_INH_VU 2U
/* Counts HS as well, if VS is counted. */
#define HW_COUNT_HS 4U

/* The event and filter of a hardware counter. */
struct hw_event {
	uint32_t event_idx; /* SBI type 0, 1, 2 or 3 */
	uint32_t inhibit;   /* HW_INH_*, HW_COUNT_HS */
	uint64_t event_data;
};

static inline bool hw_event_equal(const struct hw_event *a, const struct hw_event *b)
{
	return a->event_idx == b->event_idx && a->inhibit == b->inhibit &&
	       a->event_data == b->event_data;
}

static inline bool hw_event_is_raw(uint32_t event_idx)
{
	return SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_RAW ||
	       SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_RAW_V2;
}

/* Whether SBI 3.0 defines an event of the hart with this index (sections 11.1 to 11.4). */
static inline bool hw_event_exists(uint32_t event_idx)
{
	uint32_t code = SBI_PMU_EVENT_CODE(event_idx);

	switch (event_idx >> 16) {
	case SBI_PMU_TYPE_HW:
		return code != SBI_PMU_HW_NO_EVENT && code <= SBI_PMU_HW_EVENT_LAST;
	case SBI_PMU_TYPE_CACHE:
		return code >> 3 <= SBI_PMU_CACHE_ID_LAST &&
		       (code >> 1 & 3U) <= SBI_PMU_CACHE_OP_LAST;
	case SBI_PMU_TYPE_RAW:
	case SBI_PMU_TYPE_RAW_V2:
		return code == 0;
	default:
		return false;
	}
}

#endif
