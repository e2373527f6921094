/* SPDX-License-Identifier: Apache-2.0 */
/* A vcpu's counters as the operator sees them. Nothing here changes anything. */
#include "vpmu/internal.h"
#include "vpmu/retired.h"
#include "vpmu/show.h"

static void describe_fw(const struct vpmu *v, const struct vpmu_counter *c, struct vpmu_view *view)
{
	view->is_fw = true;
	if (view->state != VPMU_RUNNING)
		return;
	view->value = c->offset;
	if (c->hctr < VPMU_FW_EVENTS)
		view->value += v->fw_total[c->hctr];
	else
		view->holds = VPMU_VALUE_LESS_TOTAL;
}

static void describe_hw(const struct vpmu *v, uint32_t counter_idx, bool same_hart,
                        struct vpmu_view *view)
{
	const struct vpmu_counter *c = &v->counter[counter_idx];
	hctr_t hctr = {c->hctr % VPMU_HW_COUNTERS};
	uint64_t others = v->hctr[hctr.idx].users & ~(bit64(counter_idx) | VPMU_HS_USES);
	/* If its hctr was taken while the vcpu was away, a solo counter is set again as it was. */
	uint64_t in_step = v->in_step | (v->parked & ~v->owned & v->solo);
	uint64_t count = v->hctr[hctr.idx].count;
	uint64_t back = 0;

	view->hctr = hctr.idx;
	view->inhibit = v->event[hctr.idx].inhibit;
	view->event_data = v->event[hctr.idx].event_data;
	if (counter_idx >= VPMU_OBSERVER(0)) {
		others &= v->all_lctrs;
		back = v->set_back[counter_idx - VPMU_OBSERVER(0)];
	}
	view->shared = others != 0;
	view->direct = (v->openable & in_step & bit64(counter_idx)) != 0;
	if (view->state != VPMU_RUNNING)
		return;
	if (!vpmu_is_current(v, hctr)) {
		if (!same_hart) {
			view->holds = VPMU_VALUE_AWAY;
			return;
		}
		count = vpmu_count(v, hctr);
	}
	view->value = (count + c->offset + back) & v->value_mask;
}

bool vpmu_describe(const struct vpmu *v, uint32_t counter_idx, bool same_hart,
                   struct vpmu_view *view)
{
	lctr_t lctr = {counter_idx};
	uint64_t bit = counter_idx < VPMU_COUNTERS ? bit64(counter_idx) : 0;
	bool runs = (v->running & bit) != 0;

	if ((v->configured & bit) == 0)
		return false;
	*view = (struct vpmu_view){
	    .event_idx = v->counter[counter_idx].event_idx,
	    .state = runs                   ? VPMU_RUNNING
	             : (v->lost & bit) != 0 ? VPMU_LOST
	                                    : VPMU_STOPPED,
	    .holds = VPMU_VALUE_NOW,
	    .value = runs ? 0 : v->counter[counter_idx].value,
	    .overflow = (v->overflow & bit) != 0,
	};
	if (vpmu_is_fw(v, lctr))
		describe_fw(v, &v->counter[counter_idx], view);
	else
		describe_hw(v, counter_idx, same_hart, view);
	if (view->state == VPMU_LOST)
		view->holds = VPMU_VALUE_NONE;
	return true;
}
