/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of struct vcpu. The run state: core/sched/run_state.h, whose functions alone write it, and
 * also steal_since of struct vcpu_stats and throttled_since of struct vcpu_budget. */
#ifndef CORE_VCPU_RUN_STATE_H
#define CORE_VCPU_RUN_STATE_H

#include "core/lib/types.h"

/* Why a vcpu does not run. */
enum {
	BLOCK_WAIT = 1,    /* in WFI, until it has an interrupt */
	BLOCK_OFF = 2,     /* not started, or stopped */
	BLOCK_BUDGET = 4,  /* its budget is spent until the period ends; core/sched/vcpu_budget.h */
	BLOCK_MOVE = 8,    /* has left its old home, not yet arrived; core/sched/vcpu_move.h */
	BLOCK_OUTPUT = 16, /* in a call that waits for room in the console's output */
	BLOCK_IDLE = BLOCK_WAIT | BLOCK_OUTPUT, /* it wants no time, so no budget throttles it */
};

/* Why a vcpu that is blocked gets a time slice, in which HS works and no guest runs. */
enum {
	TURN_REQUESTS = 1, /* requests are to be served */
	TURN_WORK = 2,     /* the VM's next life is to be prepared; only with BLOCK_OFF */
};

struct run_state {
	uint8_t blocked; /* BLOCK_*; 0: it runs, or waits for its turn to run */
	/* Checked at the beginning of a time slice at once: not 0 if one of them is set. */
	union {
		struct {
			uint8_t turns;   /* TURN_* */
			bool has_budget; /* constant after boot */
		};
		uint16_t checked;
	};
};

/* Used by core/sched/vcpu_budget.h. */
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

/* Whether the vcpu gets time slices on its home, in its windows: its bit in pcpu->willing. */
static inline bool run_state_ready(const struct run_state *run)
{
	return !run->blocked || (run->turns && !(run->blocked & BLOCK_MOVE));
}

/* Whether the vcpu is in WFI, and an interrupt may wake it now. */
static inline bool run_state_sleeps(const struct run_state *run)
{
	return (run->blocked & (BLOCK_WAIT | BLOCK_MOVE)) == BLOCK_WAIT;
}

#endif
