/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hardware events and counters, in the words that the vPMU, its port and the hart's driver
 * (arch/riscv/hpm.h) share.
 */
#ifndef VPMU_HW_EVENT_H
#define VPMU_HW_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/sbi_pmu.h"

/*
 * The hart numbers its counters: 0 cycle, 2 instret, 3..31 hpmcounter3..31. These sets of them have
 * names; the fixed ones tell nobody when they wrap.
 */
#define HCTRS_CYCLE   (UINT64_C(1) << 0)
#define HCTRS_INSTRET (UINT64_C(1) << 2)
#define HCTRS_FIXED   (HCTRS_CYCLE | HCTRS_INSTRET)

/* Modes in which a counter stands still; the four reduced filters are its four values. */
#define HW_INH_VS 1U
#define HW_INH_VU 2U
/* With VS counted, count HS as well. */
#define HW_COUNT_HS 4U

/* What a hardware counter counts. */
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

/* Does SBI 3.0 have the general event (section 11.1), the cache event (11.2) of this code? */
static inline bool hw_event_is_general(uint32_t code)
{
	return code != SBI_PMU_HW_NO_EVENT && code <= SBI_PMU_HW_EVENT_LAST;
}

static inline bool hw_event_is_cache(uint32_t code)
{
	return code >> 3 <= SBI_PMU_CACHE_ID_LAST && (code >> 1 & 3U) <= SBI_PMU_CACHE_OP_LAST;
}

#endif
