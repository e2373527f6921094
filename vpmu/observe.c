/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An observer is a logical counter with an index that guests cannot name. So it can share an hctr
 * like any other counter (anchor.c). Requests of the guest ignore it (assign.c), and prepare() in
 * config.c ends it if it is in the way. Its wrap is never reported to the guest. The wrap of an
 * observer that samples ends a period; that of any other has no effect.
 */
#include "vpmu/observe.h"
#include "vpmu/hctr.h"

/* Finds an hctr on which an event can be observed. Returns false if there is none; *guests is then
 * whether a counter of the guest is the reason. */
static bool find(const struct vpmu *v, const struct hw_event *event, uint64_t hctrs, hctr_t *hctr,
                 bool *guests)
{
	uint64_t free = 0;
	uint32_t i;

	*guests = false;
	for_each_bit (i, hctrs) {
		uint64_t users = v->hctr[i].users;

		hctr->idx = i;
		if (users == 0)
			free |= bit64(i);
		else if (hw_event_equal(&v->event[i], event) &&
		         (vpmu_shown_hctrs(v) & bit64(i)) == 0)
			return true;
		*guests |= (users & ~VPMU_OBSERVER_LCTRS) != 0;
	}
	if (free == 0)
		return false;
	/* Guests' counters get the lowest free one. */
	hctr->idx = highest_bit(free);
	return true;
}

uint64_t vpmu_users_change_begin(struct vpmu *v, bool resident, hctr_t hctr)
{
	uint64_t flagged;

	if (!resident) {
		vpmu_evict(v, hctr);
		return 0;
	}
	flagged = vpmu_take_overflows(v);
	if ((v->active & bit64(hctr.idx)) != 0)
		vpmu_hctr_sync(v, hctr);
	return flagged;
}

void vpmu_users_change_end(struct vpmu *v, bool resident, hctr_t hctr, uint64_t flagged)
{
	uint64_t bit = bit64(hctr.idx);

	vpmu_note_solo(v, hctr);
	if (resident)
		vpmu_apply(v, flagged | bit, 0, 0);
	else if ((v->hctr[hctr.idx].users & v->running) != 0)
		v->parked |= bit;
	else
		v->parked &= ~bit;
}

enum vpmu_observe vpmu_observe(struct vpmu *v, bool resident, uint32_t n, uint32_t event_idx,
                               uint64_t event_data, unsigned long config_flags, uint64_t period)
{
	struct vpmu_counter *c = &v->counter[VPMU_OBSERVER(n)];
	uint64_t bit = bit64(VPMU_OBSERVER(n));
	struct hw_event event;
	struct vpmu_hctr *h;
	uint64_t flagged;
	hctr_t hctr;
	bool guests;
	uint64_t hctrs = vpmu_event_hctrs(v, event_idx, event_data, config_flags, &event);

	if (hctrs == 0)
		return VPMU_OBSERVE_NO_EVENT;
	if (period != 0 && vpmu_is_silent(v, event.event_idx))
		return VPMU_OBSERVE_SILENT;
	if (!find(v, &event, hctrs, &hctr, &guests))
		return guests ? VPMU_OBSERVE_GUEST_USES : VPMU_OBSERVE_OTHER_USES;

	flagged = vpmu_users_change_begin(v, resident, hctr);
	h = &v->hctr[hctr.idx];
	if (h->users == 0) {
		v->owned &= ~bit64(hctr.idx);
		vpmu_note_event(v, hctr, &event);
		h->count = 0;
	}
	h->users |= bit;
	*c = (struct vpmu_counter){
	    .event_idx = event.event_idx,
	    .hctr = hctr.idx,
	    .offset = (-h->count - period) & v->value_mask,
	};
	v->period[n] = period;
	v->set_back[n] = period;
	v->configured |= bit;
	v->running |= bit;
	if (period != 0)
		v->near |= bit;
	vpmu_users_change_end(v, resident, hctr, flagged);
	return VPMU_OBSERVE_OK;
}

/* Ends an observer that was running on this hctr, or was lost. */
static void end(struct vpmu *v, uint32_t idx, hctr_t hctr)
{
	uint64_t bit = bit64(idx);

	v->configured &= ~bit;
	v->running &= ~bit;
	v->near &= ~bit;
	v->lost &= ~bit;
	v->unknown &= ~bit;
	v->hctr[hctr.idx].users &= ~bit;
}

void vpmu_unobserve(struct vpmu *v, bool resident, uint32_t n)
{
	uint32_t idx = VPMU_OBSERVER(n);
	hctr_t hctr = {v->counter[idx].hctr};
	uint64_t flagged;

	if ((v->configured & bit64(idx)) == 0)
		return;
	flagged = vpmu_users_change_begin(v, resident, hctr);
	end(v, idx, hctr);
	vpmu_users_change_end(v, resident, hctr, flagged);
}

bool vpmu_observer_read(const struct vpmu *v, uint32_t n, uint64_t *value, bool *shared)
{
	const struct vpmu_counter *c = &v->counter[VPMU_OBSERVER(n)];
	hctr_t hctr = {c->hctr};
	uint64_t count;

	*shared = (v->hctr[hctr.idx].users & v->all_lctrs) != 0;
	if ((v->running & ~v->lost & bit64(VPMU_OBSERVER(n))) == 0)
		return false;
	count = vpmu_is_current(v, hctr) ? v->hctr[hctr.idx].count : vpmu_count(v, hctr);
	*value = (count + c->offset + v->set_back[n]) & v->value_mask;
	return true;
}

void vpmu_begin_period(struct vpmu *v, hctr_t hctr, uint32_t idx)
{
	struct vpmu_counter *c = &v->counter[idx];
	uint32_t n = idx - VPMU_OBSERVER(0);
	uint64_t period = v->period[n];
	uint64_t value = (v->hctr[hctr.idx].count + c->offset) & v->value_mask;
	/* A wrap by an emulated instruction is found before the instruction is added: then the
	 * value is still the highest one. */
	uint64_t beyond = value <= v->value_mask / 2 ? value : 0;
	/* Further periods that have ended. `period` is 0 for an observer that does not sample. */
	uint64_t missed = beyond < period || period == 0 ? 0 : beyond / period;
	uint64_t next = vpmu_port_sample(n, period, missed);
	uint64_t back;

	/* The next period would be over already. */
	if (next <= beyond - missed * period)
		next = period;
	back = missed * period + next;
	c->offset = (c->offset - back) & v->value_mask;
	v->period[n] = next;
	v->set_back[n] += back;
}

bool vpmu_begin_period_fast(struct vpmu *v, hctr_t hctr)
{
	struct vpmu_hctr *h = &v->hctr[hctr.idx];
	uint64_t bit = bit64(hctr.idx);
	uint64_t users = h->users;
	uint32_t idx;

	if ((users & VPMU_OBSERVER_LCTRS) != users || (users & (users - 1)) != 0)
		return false;
	idx = only_bit(users);
	h->count = vpmu_count(v, hctr);
	vpmu_begin_period(v, hctr, idx);
	h->count = (h->count + v->counter[idx].offset) & v->value_mask;
	v->counter[idx].offset = 0;
	vpmu_port_stop(bit);
	vpmu_port_start_armed(hctr, h->count);
	return true;
}

uint64_t vpmu_end_observers(struct vpmu *v, hctr_t hctr)
{
	uint64_t observers = v->hctr[hctr.idx].users & VPMU_OBSERVER_LCTRS;
	uint32_t i;

	if (observers == 0)
		return 0;
	if ((v->active & bit64(hctr.idx)) != 0)
		vpmu_hctr_sync(v, hctr);
	for_each_bit (i, observers) {
		uint32_t n = i - VPMU_OBSERVER(0);
		uint64_t value = v->counter[i].value;

		if ((v->running & bit64(i)) != 0)
			value = v->hctr[hctr.idx].count + v->counter[i].offset;
		end(v, i, hctr);
		vpmu_port_observer_lost(n, (value + v->set_back[n]) & v->value_mask);
	}
	vpmu_note_solo(v, hctr);
	return v->active & bit64(hctr.idx);
}
