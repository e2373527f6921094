/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets: of one event, at most `count` happen to a vcpu in each period. The vPMU counts them
 * (vpmu/budget.h) and tells when the budget is spent; then the vcpu leaves the hart until the
 * period is over. Periods follow each other from the first start on, whatever the vcpu or its VM
 * does. By how much a period's budget was exceeded is taken off the next one's.
 *
 * Private to the home hart, which does not change.
 */
#ifndef CORE_SCHED_VCPU_BUDGET_H
#define CORE_SCHED_VCPU_BUDGET_H

#include "core/lib/types.h"

struct vcpu;

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

/* Gives the vcpu the budget of its VM. At boot. */
void vcpu_budget_make(struct vcpu *vcpu);

/* For the first period. At boot. */
void vcpu_budget_first(struct vcpu *vcpu);

/* The first life of the VM begins now, and so does the first period; on a hart with a schedule it
 * has begun before, so that a period of one frame is a frame's. Lead hart of the VM only. */
void vcpu_budget_begin(struct vcpu *vcpu, uint64_t now);

/* The vcpu is about to be loaded. Returns false if it has spent its budget; then it is throttled,
 * and not ready any more. */
bool vcpu_budget_allows(struct vcpu *vcpu, uint64_t now);

/* The throttled vcpu, which was away meanwhile (core/sched/windows.h), is ready again for
 * vcpu_budget_allows() to judge: what is over of its period is not throttled, but stolen. */
void vcpu_budget_again(struct vcpu *vcpu);

/* The resident vcpu has spent its budget. It leaves the hart at the end of this stay. */
void vcpu_budget_spent(struct vcpu *vcpu);

/* The time that vcpu_budget_deadline() returned may have come. */
void vcpu_budget_look(struct vcpu *vcpu, uint64_t now);

/* The vcpu was resident until now, and does not wait for its turn. */
void vcpu_budget_left_hart(struct vcpu *vcpu, uint64_t now);

/* The vcpu stops, or its VM ends. */
void vcpu_budget_off(struct vcpu *vcpu);

/* Returns when vcpu_budget_look() has something to do, ~0: never. */
uint64_t vcpu_budget_deadline(const struct vcpu *vcpu);

/* Returns how long the vcpu was throttled up to `now`, in host time. Any hart may ask. */
uint64_t vcpu_budget_throttled(const struct vcpu *vcpu, uint64_t now);

#endif
