/* SPDX-License-Identifier: Apache-2.0 */
/* Counters for budgets. Harts are masks, as in struct vm_harts. */
#ifndef CORE_PMU_BUDGET_HART_H
#define CORE_PMU_BUDGET_HART_H

#include <stdint.h>

/* Returns the counter for budgets of this event, the same one on all of these harts; 0 if there is
 * none. */
uint32_t budget_hctr(uint64_t harts, uint32_t event_idx);

/* For vm_limits.no_budget: returns the reason why there is no such counter, or NULL if there is
 * one. The text is valid until the next call. */
const char *budget_refusal(uint64_t harts, uint32_t event_idx);

#endif
