/* SPDX-License-Identifier: Apache-2.0 */
/* Part of struct vcpu: core/sched/vcpu_budget.h. */
#ifndef CORE_VCPU_BUDGET_STATE_H
#define CORE_VCPU_BUDGET_STATE_H

#include "core/lib/types.h"

struct vcpu_budget {
	uint64_t count;      /* events in a period; 0: it has no budget, and nothing below counts */
	uint64_t period;     /* host time */
	uint64_t period_end; /* host time; of the period that the counter counts */
	/* Host time at which the vcpu, resident or throttled, is looked at: the end of the period;
	 * ~0: it is neither, or was looked at. */
	uint64_t look_at;
	bool spent;               /* in the period that the counter counts */
	uint64_t throttled_since; /* host time; 0: it is not throttled, or slept meanwhile */
	bool released;            /* and waits for its turn, or to be loaded */
	/* For the user; other harts read them. */
	uint64_t throttled_ticks; /* up to throttled_since */
	uint64_t periods_spent;   /* how often a budget was spent */
	uint64_t over_most;       /* by how much at most it was exceeded */
};

#endif
