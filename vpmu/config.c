/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuring a counter: SBI 3.0 section 11.8.
 *
 * A counter that is configured anew first forgets what it was, OF included; its value stays
 * unless CLEAR_VALUE says otherwise. A running counter is never chosen. Only SKIP_MATCH can name
 * one, and then it must be running for the very event that is asked for.
 */
#include "vpmu/internal.h"

static const struct sbi_ret not_supported = {.error = SBI_ERR_NOT_SUPPORTED};

static void clear_value(struct vpmu *v, lctr_t lctr)
{
	v->counter[lctr.idx].value = 0;
	/* What the hardware may still hold is no longer the value. */
	v->held &= ~bit64(lctr.idx);
}

/* Sets a running counter to zero where it is. OF stays: only a start clears it. */
static void clear_running(struct vpmu *v, lctr_t lctr)
{
	struct vpmu_counter *c = &v->counter[lctr.idx];
	hctr_t hctr = {c->hctr};
	uint64_t hctrs;

	if ((vpmu_fw_lctrs(v) & bit64(lctr.idx)) != 0) {
		c->value = -vpmu_fw_total(v, lctr);
		return;
	}
	hctrs = vpmu_take_overflows(v);
	vpmu_hctr_sync(v, hctr);
	c->value = -v->count[hctr.idx] & v->value_mask;
	if (!vpmu_near(v, 0))
		v->near &= ~bit64(lctr.idx);
	vpmu_apply(v, hctrs | bit64(hctr.idx), 0, 0);
}

static struct sbi_ret config_running(struct vpmu *v, lctr_t lctr,
                                     const struct vpmu_hw_config *event, unsigned long config_flags)
{
	if (!vpmu_event_equal(&v->counter[lctr.idx].event, event))
		return not_supported;
	if ((config_flags & SBI_PMU_CFG_FLAG_CLEAR_VALUE) != 0)
		clear_running(v, lctr);
	return vpmu_result(SBI_SUCCESS, lctr.idx);
}

static void configure(struct vpmu *v, struct vpmu_place place, const struct vpmu_hw_config *event)
{
	struct vpmu_counter *c = &v->counter[place.lctr.idx];
	uint64_t bit = bit64(place.lctr.idx);

	if ((v->configured & bit) != 0)
		vpmu_forget(v, bit);
	v->configured |= bit;
	c->event = *event;
	if (vpmu_event_is_fw(event))
		return;
	c->hctr = place.hctr.idx;
	v->users[place.hctr.idx] |= (uint32_t)bit;
	if (place.hctr.idx == place.lctr.idx)
		v->home |= bit;
	if (!v->policy.idle_cycles &&
	    (v->policy.wfi_recounts || event->event_idx == SBI_PMU_HW_CPU_CYCLES))
		v->wfi |= bit;
	if (event->event_idx <= SBI_PMU_HW_INSTRUCTIONS) {
		if ((event->inhibit & VPMU_INH_VS) == 0)
			v->retires[0] |= bit;
		if ((event->inhibit & VPMU_INH_VU) == 0)
			v->retires[1] |= bit;
	}
}

/* What configuring a counter that is not running changes of it. */
struct former {
	struct vpmu_counter counter;
	bool configured, lost, overflow;
};

static struct former remember(const struct vpmu *v, lctr_t lctr)
{
	uint64_t bit = bit64(lctr.idx);

	return (struct former){
	    .counter = v->counter[lctr.idx],
	    .configured = (v->configured & bit) != 0,
	    .lost = (v->lost & bit) != 0,
	    .overflow = (v->overflow & bit) != 0,
	};
}

/* Undoes configure(): a call that fails has changed nothing. */
static void take_back(struct vpmu *v, lctr_t lctr, const struct former *former)
{
	uint64_t bit = bit64(lctr.idx);

	vpmu_forget(v, bit);
	if (former->configured)
		configure(v, (struct vpmu_place){lctr, {former->counter.hctr}},
		          &former->counter.event);
	v->counter[lctr.idx] = former->counter;
	if (former->lost)
		v->lost |= bit;
	if (former->overflow)
		v->overflow |= bit;
}

/* false: the hardware does not take the event. The counters are as before. */
static bool prepare(struct vpmu *v, hctr_t hctr, const struct vpmu_hw_config *event)
{
	if (vpmu_hctr_holds(v, hctr, event))
		return true;
	v->held &= ~bit64(hctr.idx);
	return vpmu_port_prepare(hctr, event);
}

static struct sbi_ret configure_and_start(struct vpmu *v, struct vpmu_place place,
                                          const struct vpmu_hw_config *event,
                                          unsigned long config_flags, uint64_t hctrs)
{
	struct former former = remember(v, place.lctr);
	uint64_t bit = bit64(place.lctr.idx);

	configure(v, place, event);
	if ((config_flags & SBI_PMU_CFG_FLAG_CLEAR_VALUE) != 0)
		clear_value(v, place.lctr);
	vpmu_start_set(v, bit, VPMU_FROM_KEPT, 0, hctrs);
	if ((v->lost & bit) == 0)
		return vpmu_result(SBI_SUCCESS, place.lctr.idx);
	take_back(v, place.lctr, &former);
	return not_supported;
}

static struct sbi_ret config_stopped(struct vpmu *v, uint64_t set,
                                     const struct vpmu_hw_config *event, unsigned long config_flags)
{
	struct vpmu_place place;
	uint64_t hctrs = 0;

	if (!vpmu_assign(v, set, event, &place))
		return not_supported;

	if (!vpmu_event_is_fw(event)) {
		hctrs = vpmu_take_overflows(v);
		if (!prepare(v, place.hctr, event)) {
			vpmu_apply(v, hctrs, 0, 0);
			return not_supported;
		}
	}
	if ((config_flags & SBI_PMU_CFG_FLAG_AUTO_START) != 0)
		return configure_and_start(v, place, event, config_flags, hctrs);
	configure(v, place, event);
	if ((config_flags & SBI_PMU_CFG_FLAG_CLEAR_VALUE) != 0)
		clear_value(v, place.lctr);
	vpmu_apply(v, hctrs, 0, 0);
	return vpmu_result(SBI_SUCCESS, place.lctr.idx);
}

struct sbi_ret vpmu_counter_config_matching(struct vpmu *v, unsigned long counter_idx_base,
                                            unsigned long counter_idx_mask,
                                            unsigned long config_flags, unsigned long event_idx,
                                            uint64_t event_data)
{
	struct vpmu_hw_config event;
	uint64_t set;

	if (!vpmu_counter_set(v, counter_idx_base, counter_idx_mask, &set) ||
	    (config_flags & ~SBI_PMU_CFG_FLAG_ALL) != 0)
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	if (set == 0 || !vpmu_event_parse(v, event_idx, event_data, config_flags, &event))
		return not_supported;

	if ((config_flags & SBI_PMU_CFG_FLAG_SKIP_MATCH) != 0) {
		lctr_t first = {lowest_bit(set)};

		set = bit64(first.idx);
		if ((v->running & set) != 0)
			return config_running(v, first, &event, config_flags);
	}
	return config_stopped(v, set, &event, config_flags);
}
