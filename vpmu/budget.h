/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget of a vcpu: the number of events until vpmu_port_budget_spent() is called. A logical
 * counter that guests cannot name counts them from boot on, without a filter, on the hctr
 * vpmu_policy.budget_hctr. That hctr counts nothing else: the guest can use it for the same event
 * without a filter only, and then shares it. The guest cannot stop, set or read the budget's
 * counter.
 *
 * Only for a vcpu whose policy has a budget. All functions are called on the hart where the vcpu is
 * resident, or was last.
 */
#ifndef VPMU_BUDGET_H
#define VPMU_BUDGET_H

#include "vpmu/vpmu.h"

/*
 * Sets the budget to `left` events. If that is 0 or less, it is spent already, and
 * vpmu_port_budget_spent() is not called. Returns the events that were left before; a negative
 * number is the excess. A counter that the hardware has refused is started again; 0 is returned
 * then.
 */
int64_t vpmu_budget_set(struct vpmu *v, bool resident, int64_t left);

/* Returns the events that are left; a negative number is the excess. The vcpu is not resident, and
 * its counter was evicted, or read when it was saved. At any other time, or on another hart, the
 * result is as old as the last read of the counter. */
int64_t vpmu_budget_left(const struct vpmu *v);

#endif
