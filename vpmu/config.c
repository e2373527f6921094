/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuring a counter: SBI 3.0 section 11.8.
 *
 * When a counter is configured again, its old configuration is dropped first, including OF. Its
 * value is kept unless CLEAR_VALUE is set. A running counter is never chosen. SKIP_MATCH can name
 * one, but only for exactly the event and filter that it counts.
 */
#include "vpmu/hctr.h"

static const struct sbi_ret not_supported = {.error = SBI_ERR_NOT_SUPPORTED};

static void clear_value(struct vpmu *v, lctr_t lctr)
{
	v->counter[lctr.idx].value = 0;
	/* The hardware may still hold another value. */
	v->in_step &= ~bit64(lctr.idx);
}

/* Sets a running counter to zero. OF is kept, because only a start clears it. */
static void clear_running(struct vpmu *v, lctr_t lctr)
{
	struct vpmu_counter *c = &v->counter[lctr.idx];
	hctr_t hctr = {c->hctr};
	uint64_t hctrs;

	if ((v->fw_lctrs & bit64(lctr.idx)) != 0) {
		c->offset = -vpmu_fw_total(v, lctr);
		return;
	}
	hctrs = vpmu_take_overflows(v);
	vpmu_hctr_sync(v, hctr);
	c->offset = -v->hctr[hctr.idx].count & v->value_mask;
	if (!vpmu_near(v, 0))
		v->near &= ~bit64(lctr.idx);
	vpmu_apply(v, hctrs | bit64(hctr.idx), 0, 0);
}

static bool counts(const struct vpmu *v, lctr_t lctr, const struct hw_event *event)
{
	const struct vpmu_counter *c = &v->counter[lctr.idx];

	return c->event_idx == event->event_idx &&
	       (vpmu_event_is_fw(event) || hw_event_equal(&v->event[c->hctr], event));
}

static struct sbi_ret config_running(struct vpmu *v, lctr_t lctr, const struct hw_event *event,
                                     unsigned long config_flags)
{
	if (!counts(v, lctr, event))
		return not_supported;
	if ((config_flags & SBI_PMU_CFG_FLAG_CLEAR_VALUE) != 0)
		clear_running(v, lctr);
	return vpmu_result(SBI_SUCCESS, lctr.idx);
}

static void configure(struct vpmu *v, struct vpmu_place place, const struct hw_event *event)
{
	struct vpmu_counter *c = &v->counter[place.lctr.idx];
	uint64_t bit = bit64(place.lctr.idx);

	if ((v->configured & bit) != 0)
		vpmu_forget(v, bit);
	v->configured |= bit;
	c->event_idx = event->event_idx;
	if (vpmu_event_is_fw(event)) {
		c->hctr = (uint8_t)vpmu_fw_place(v, event->event_idx);
		return;
	}
	c->hctr = (uint8_t)place.hctr.idx;
	v->hctr[place.hctr.idx].users |= bit;
	/* Unless the counter with its own index is a user, the hctr will run for others and not
	 * keep that counter's value. */
	v->in_step &= ~bit64(place.hctr.idx) | v->hctr[place.hctr.idx].users;
	vpmu_note_solo(v, place.hctr);
}

/* The state of a stopped counter that a new configuration overwrites. */
struct former {
	struct vpmu_counter counter;
	struct hw_event event;
	uint64_t configured, lost, unknown, overflow; /* its bit of these sets, or 0 */
};

void vpmu_note_event(struct vpmu *v, hctr_t hctr, const struct hw_event *event)
{
	uint64_t bit = bit64(hctr.idx);

	v->event[hctr.idx] = *event;
	v->wfi &= ~bit;
	v->retires[0] &= ~bit;
	v->retires[1] &= ~bit;
	v->polled = (v->polled & ~bit) | (HCTRS_FIXED & bit);
	if (!v->policy.idle_cycles &&
	    (v->policy.wfi_recounts || event->event_idx == SBI_PMU_HW_CPU_CYCLES))
		v->wfi |= bit;
	if (event->event_idx > SBI_PMU_HW_INSTRUCTIONS) {
		if (vpmu_is_silent(v, event->event_idx))
			v->polled |= bit;
		return;
	}
	if ((event->inhibit & HW_INH_VS) == 0)
		v->retires[0] |= bit;
	if ((event->inhibit & HW_INH_VU) == 0)
		v->retires[1] |= bit;
}

/* Undoes configure(), because a call that fails must not change anything. */
static void take_back(struct vpmu *v, lctr_t lctr, const struct former *former)
{
	uint64_t bit = bit64(lctr.idx);
	hctr_t hctr = {former->counter.hctr};

	vpmu_forget(v, bit);
	if (former->configured != 0) {
		/* The hardware may hold something other than this counter's value by now. */
		if ((v->policy.hctrs & bit) != 0 && !vpmu_is_used(v, hctr)) {
			v->owned &= ~bit64(hctr.idx);
			v->in_step &= ~bit64(hctr.idx);
			vpmu_note_event(v, hctr, &former->event);
		}
		configure(v, (struct vpmu_place){lctr, hctr}, &former->event);
	}
	v->counter[lctr.idx] = former->counter;
	v->lost |= former->lost;
	v->unknown |= former->unknown;
	v->overflow |= former->overflow;
	if ((v->policy.hctrs & bit) != 0) {
		v->needs_slow_path |= (bit64(hctr.idx) & HCTRS_FIXED) != 0;
		vpmu_note_solo(v, hctr);
	}
}

bool vpmu_hold(struct vpmu *v, hctr_t hctr, const struct hw_event *event)
{
	uint64_t bit = bit64(hctr.idx);

	v->owned &= ~bit;
	v->in_step &= ~bit;
	if (!vpmu_port_prepare(hctr, event))
		return false;
	v->owned |= bit;
	vpmu_note_event(v, hctr, event);
	return true;
}

/*
 * Makes the hctr hold the event. Returns false if the hardware refuses; then the guest's counters
 * are as before, but the hctr is not in step any more. If the hctr has other users of the guest,
 * they count the same event, and may be running.
 */
static bool prepare(struct vpmu *v, hctr_t hctr, const struct hw_event *event)
{
	uint64_t bit = bit64(hctr.idx);
	uint64_t flagged;

	if ((bit & HCTRS_FIXED) != 0) {
		/* The start takes the counter from HS. */
		v->needs_slow_path = true;
		vpmu_note_event(v, hctr, event);
		return true;
	}
	if (vpmu_holds(v, hctr, event) ||
	    (v->hctr[hctr.idx].users != 0 && hw_event_equal(&v->event[hctr.idx], event)))
		return true;
	/* No overflow may be pending while the port works. */
	flagged = vpmu_take_overflows(v);
	vpmu_apply(v, flagged, vpmu_end_observers(v, hctr), 0);
	return vpmu_hold(v, hctr, event);
}

static void configure_anew(struct vpmu *v, struct vpmu_place place, const struct hw_event *event,
                           unsigned long config_flags)
{
	configure(v, place, event);
	if ((config_flags & SBI_PMU_CFG_FLAG_CLEAR_VALUE) != 0)
		clear_value(v, place.lctr);
}

/* Not inlined, so that a configuration alone needs fewer registers. */
static __attribute__((noinline)) struct sbi_ret config_and_start(struct vpmu *v,
                                                                 struct vpmu_place place,
                                                                 const struct hw_event *event,
                                                                 unsigned long config_flags)
{
	const struct vpmu_counter *c = &v->counter[place.lctr.idx];
	uint64_t bit = bit64(place.lctr.idx);
	struct former former = {
	    .counter = *c,
	    .event = {.event_idx = c->event_idx},
	    .configured = v->configured & bit,
	    .lost = v->lost & bit,
	    .unknown = v->unknown & bit,
	    .overflow = v->overflow & bit,
	};

	if ((v->fw_lctrs & bit) == 0)
		former.event = v->event[c->hctr];
	if (vpmu_event_is_fw(event) || prepare(v, place.hctr, event)) {
		configure_anew(v, place, event, config_flags);
		if (vpmu_start_set(v, bit, VPMU_FROM_KEPT, 0) == 0 && (v->lost & bit) == 0)
			return vpmu_result(SBI_SUCCESS, place.lctr.idx);
		take_back(v, place.lctr, &former);
	}
	vpmu_update_direct(v);
	return not_supported;
}

static struct sbi_ret config_stopped(struct vpmu *v, uint64_t set, const struct hw_event *event,
                                     uint64_t allowed, unsigned long config_flags)
{
	struct vpmu_place place;
	bool taken;

	if (!vpmu_assign(v, set, event, allowed, &place))
		return not_supported;
	if ((config_flags & SBI_PMU_CFG_FLAG_AUTO_START) != 0)
		return config_and_start(v, place, event, config_flags);
	taken = vpmu_event_is_fw(event) || prepare(v, place.hctr, event);
	if (taken)
		configure_anew(v, place, event, config_flags);
	vpmu_update_direct(v);
	return taken ? vpmu_result(SBI_SUCCESS, place.lctr.idx) : not_supported;
}

/* Whether the fast path is possible: the event is known, and nothing is configured on its home
 * counter. */
static inline bool is_home_idle(const struct vpmu *v, const struct vpmu_known *known, uint64_t set,
                                unsigned long config_flags, unsigned long event_idx,
                                uint64_t event_data)
{
	return known->event_idx == event_idx && event_data == 0 && known->home != 0 &&
	       ((set & ~v->configured) >> known->home & 1) != 0 &&
	       v->hctr[known->home].users == 0 &&
	       (config_flags & ~(SBI_PMU_CFG_FILTERS | SBI_PMU_CFG_FLAG_CLEAR_VALUE)) == 0 &&
	       vpmu_port_is_quiet();
}

/* The counter becomes the first user of the hctr with its own index, which holds the event. */
static inline struct sbi_ret take_home(struct vpmu *v, uint32_t idx, unsigned long config_flags,
                                       uint32_t event_idx)
{
	struct vpmu_counter *c = &v->counter[idx];

	v->configured |= bit64(idx);
	c->event_idx = event_idx;
	c->hctr = (uint8_t)idx;
	v->hctr[idx].users = bit64(idx);
	v->hctr[idx].ahead = 0;
	c->offset = 0;
	if (!v->policy.count_hs)
		v->solo |= bit64(idx);
	if ((config_flags & SBI_PMU_CFG_FLAG_CLEAR_VALUE) != 0)
		clear_value(v, (lctr_t){idx});
	return vpmu_result(SBI_SUCCESS, idx);
}

/* Not inlined, so that no registers are saved if the hctr holds the event already. */
static __attribute__((noinline, flatten)) struct sbi_ret
config_home(struct vpmu *v, uint32_t idx, unsigned long config_flags, uint32_t event_idx)
{
	struct hw_event event = {
	    .event_idx = event_idx,
	    .inhibit = vpmu_reduced_filter(v, config_flags),
	};

	if (!vpmu_hold(v, (hctr_t){idx}, &event))
		return not_supported;
	return take_home(v, idx, config_flags, event_idx);
}

__attribute__((noinline)) struct sbi_ret vpmu_config_here(struct vpmu *v, uint64_t set,
                                                          unsigned long config_flags,
                                                          unsigned long event_idx,
                                                          uint64_t event_data)
{
	const struct vpmu_known *known = &v->known[vpmu_known_index(event_idx)];
	struct hw_event event;
	uint64_t hctrs;

	if ((config_flags & ~SBI_PMU_CFG_FLAG_ALL) != 0)
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	if (set == 0 || !vpmu_event_parse(v, event_idx, event_data, config_flags, &event, &hctrs))
		return not_supported;
	/* The event has become known just now, or a move has freed its home counter. */
	if (is_home_idle(v, known, set, config_flags, event_idx, event_data))
		return config_home(v, known->home, config_flags, (uint32_t)event_idx);

	if ((config_flags & SBI_PMU_CFG_FLAG_SKIP_MATCH) != 0) {
		lctr_t first = {lowest_bit(set)};

		set = bit64(first.idx);
		if ((v->running & set) != 0)
			return config_running(v, first, &event, config_flags);
	}
	return config_stopped(v, set, &event, hctrs, config_flags);
}

struct sbi_ret vpmu_counter_config_matching(struct vpmu *v, unsigned long counter_idx_base,
                                            unsigned long counter_idx_mask,
                                            unsigned long config_flags, unsigned long event_idx,
                                            uint64_t event_data)
{
	const struct vpmu_known *known;
	uint32_t home;
	uint64_t set;

	if (!vpmu_counter_set(v, counter_idx_base, counter_idx_mask, &set))
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	known = &v->known[vpmu_known_index(event_idx)];
	home = known->home;
	if (!is_home_idle(v, known, set, config_flags, event_idx, event_data)) {
		if (!v->policy.moves)
			return vpmu_config_here(v, set, config_flags, event_idx, event_data);
		return vpmu_config_movable(v, 0, set, config_flags, event_idx, event_data);
	}
	if ((v->owned >> home & 1) == 0 || v->event[home].event_idx != event_idx ||
	    v->event[home].inhibit != vpmu_reduced_filter(v, config_flags))
		return config_home(v, home, config_flags, (uint32_t)event_idx);
	return take_home(v, home, config_flags, (uint32_t)event_idx);
}
