/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget of a vcpu: how many events may happen to it until its owner is told
 * (vpmu_port_budget_spent()). It is counted by a logical counter that guests cannot name, on the
 * hctr that vpmu_policy.budget_hctr says, without a filter and from boot on. So that hctr counts
 * nothing else: the guest shares it where it counts the same event without a filter, and otherwise
 * has never had it. Nothing that the guest may do to its own counters stops, sets or reads this
 * one.
 *
 * Only for a vcpu whose policy has a budget. All functions are called on the hart where the vcpu is
 * resident, or was last.
 */
#ifndef VPMU_BUDGET_H
#define VPMU_BUDGET_H

#include "vpmu/vpmu.h"

/*
 * The budget is spent after `left` more events; 0 or less: it is spent already, and nothing is
 * told. Returns what was left of the budget before, negative: by how much it was exceeded. A
 * counter that the hardware has refused is tried again; of that one nothing was left.
 */
int64_t vpmu_budget_set(struct vpmu *v, bool resident, int64_t left);

/* Returns what is left of the budget, negative: by how much it was exceeded. The vcpu is not
 * resident, and its counter was evicted, or read when it was saved; or any hart may ask for what
 * was so when the counter was read last. */
int64_t vpmu_budget_left(const struct vpmu *v);

#endif
