/* SPDX-License-Identifier: Apache-2.0 */
/* Part of struct vcpu. Used by core/sched/vcpu_budget.h. */
#ifndef CORE_VCPU_BUDGET_STATE_H
#define CORE_VCPU_BUDGET_STATE_H

#include "core/lib/types.h"

struct vcpu_budget {
	uint64_t count;      /* events in a period; 0: no budget, and the rest is unused */
	uint64_t period;     /* host time */
	uint64_t period_end; /* host time; end of the current period */
	/* Host time of the next check of a resident or throttled vcpu: the end of its period. ~0 if
	 * there is no such check. */
	uint64_t check_at;
	bool spent; /* the budget of the current period is spent */
	/* Part of the run state (core/vcpu/run_state.h). Host time; 0: no throttled time runs. It
	 * begins when the budget is spent, and ends when the vcpu is resident or has steal time.
	 * Time in WFI does not count. */
	uint64_t throttled_since;
	/* For the user. Other harts read these. */
	uint64_t throttled_ticks; /* total up to throttled_since */
	uint64_t periods_spent;   /* number of periods whose budget was spent */
	uint64_t max_excess;      /* the largest excess over a budget, in events */
};

#endif
