/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Budgets: at most `count` events of one kind may happen to a vcpu in each period. The vPMU counts
 * them (vpmu/budget.h) and reports when the budget is spent; then the vcpu leaves the hart until
 * the end of the period. Periods follow each other from the first start on, independent of the vcpu
 * and its VM. Any excess over a period's budget is subtracted from the next one's.
 *
 * Private to the home hart, which does not change.
 */
#ifndef CORE_SCHED_VCPU_BUDGET_H
#define CORE_SCHED_VCPU_BUDGET_H

#include "core/lib/types.h"

struct vcpu;

/* Gives the vcpu the budget of its VM. At boot. */
void vcpu_budget_make(struct vcpu *vcpu);

/* Prepares the first period. At boot. */
void vcpu_budget_first(struct vcpu *vcpu);

/* Called when the first life of the VM begins: the first period begins, too. On a hart with a
 * schedule, periods are counted from windows_start() on, so that those as long as a frame coincide
 * with frames. Lead hart of the VM only. */
void vcpu_budget_begin(struct vcpu *vcpu, uint64_t now);

/* Called before the vcpu is loaded. Returns false if it has spent its budget; then it is throttled,
 * and no longer ready. */
bool vcpu_budget_check(struct vcpu *vcpu, uint64_t now);

/* Begins the next period of a resident or throttled vcpu if check_at has come. */
void vcpu_budget_poll(struct vcpu *vcpu, uint64_t now);

/* Returns the vcpu's throttled time up to `now`, in host time. Any hart may call it. */
uint64_t vcpu_budget_throttled(const struct vcpu *vcpu, uint64_t now);

#endif
