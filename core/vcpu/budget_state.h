/* SPDX-License-Identifier: Apache-2.0 */
/* Part of struct vcpu: core/sched/vcpu_budget.h. */
#ifndef CORE_VCPU_BUDGET_STATE_H
#define CORE_VCPU_BUDGET_STATE_H

#include "core/lib/types.h"

struct vcpu_budget {
	uint64_t count;      /* events in a period; 0: no budget, and the rest is unused */
	uint64_t period;     /* host time */
	uint64_t period_end; /* host time; end of the period that the counter counts */
	/* Host time at which the vcpu, resident or throttled, is checked: the end of the period. ~0
	 * if it is neither, or has been checked. */
	uint64_t look_at;
	bool spent;               /* the budget of the period that the counter counts */
	uint64_t throttled_since; /* host time; 0: not throttled, or has slept since */
	bool released;            /* no longer throttled, but not yet loaded */
	/* For the user. Other harts read these. */
	uint64_t throttled_ticks; /* total up to throttled_since */
	uint64_t periods_spent;   /* number of periods whose budget was spent */
	uint64_t over_most;       /* the largest excess over a budget, in events */
};

#endif
