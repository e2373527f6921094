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
#include "core/vcpu/budget_state.h"

struct vcpu;

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

/* The time of look_at may have come. */
void vcpu_budget_look(struct vcpu *vcpu, uint64_t now);

/* The vcpu was resident until now, and does not wait for its turn. */
void vcpu_budget_left_hart(struct vcpu *vcpu, uint64_t now);

/* The vcpu stops, or its VM ends. */
void vcpu_budget_off(struct vcpu *vcpu);

/* Returns how long the vcpu was throttled up to `now`, in host time. Any hart may ask. */
uint64_t vcpu_budget_throttled(const struct vcpu *vcpu, uint64_t now);

#endif
