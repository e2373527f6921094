/* SPDX-License-Identifier: Apache-2.0 */
#include "vpmu/budget.h"

#include "vpmu/hctr.h"

void vpmu_budget_configure(struct vpmu *v)
{
	struct hw_event event = {.event_idx = v->policy.budget_event};
	hctr_t hctr = {v->policy.budget_hctr};

	vpmu_note_event(v, hctr, &event);
	v->hctr[hctr.idx].users = bit64(VPMU_BUDGET);
	v->counter[VPMU_BUDGET] = (struct vpmu_counter){
	    .event_idx = event.event_idx,
	    .hctr = (uint8_t)hctr.idx,
	};
	v->configured |= bit64(VPMU_BUDGET);
}

int64_t vpmu_budget_left(const struct vpmu *v)
{
	const struct vpmu_counter *c = &v->counter[VPMU_BUDGET];
	uint64_t value = (v->hctr[c->hctr].count + c->offset) & v->value_mask;

	if ((v->running & bit64(VPMU_BUDGET)) == 0)
		return 0;
	/* It counts up to its wrap, and goes on behind it. */
	if (value > v->value_mask / 2)
		return (int64_t)(v->value_mask - value) + 1;
	return -(int64_t)value;
}

int64_t vpmu_budget_set(struct vpmu *v, bool resident, int64_t left)
{
	uint64_t bit = bit64(VPMU_BUDGET);
	hctr_t hctr = {v->policy.budget_hctr};
	uint64_t flagged = vpmu_users_change_begin(v, resident, hctr);
	int64_t before = vpmu_budget_left(v);

	v->lost &= ~bit;
	v->unknown &= ~bit;
	v->running |= bit;
	v->counter[VPMU_BUDGET].offset =
	    (-(uint64_t)left - v->hctr[hctr.idx].count) & v->value_mask;
	put_bits(&v->near, bit, left > 0);
	vpmu_users_change_end(v, resident, hctr, flagged);
	return before;
}
