/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks event_idx, event_data and the filters in config_flags: SBI 3.0 sections 11.1 to 11.5, and
 * table 37. Table 38 has only one error for an event that is invalid or cannot be counted: no
 * counter can monitor it.
 */
#include <stddef.h>

#include "vpmu/internal.h"

#define RAW_DATA_BITS    48
#define RAW_V2_DATA_BITS 56

/* Whether a WFI that does not trap makes the count wrong. */
static bool idle_spoils(const struct vpmu_policy *policy, uint32_t event_idx)
{
	return event_idx == SBI_PMU_HW_INSTRUCTIONS && policy->wfi_recounts && policy->idle_cycles;
}

static bool event_allowed(const struct vpmu_policy *policy, uint32_t event_idx, uint64_t event_data)
{
	uint32_t i;

	if (policy->events == NULL)
		return true;
	for (i = 0; i < policy->n_events; i++)
		if (policy->events[i] == event_idx)
			return true;
	return hw_event_is_raw(event_idx) && policy->table != NULL &&
	       selector_is_allowed(policy->table->selectors, event_data, policy->table->allowed,
	                           policy->table->n_allowed);
}

uint64_t vpmu_table_hctrs(const struct vpmu_policy *policy, uint32_t event_idx, uint64_t event_data)
{
	const struct selector_standard *standard;

	if (policy->table == NULL)
		return ~UINT64_C(0);
	if (hw_event_is_raw(event_idx))
		return selector_hctrs(policy->table->selectors, event_data);
	standard = selector_of_standard(policy->table->selectors, event_idx);
	return standard != NULL ? standard->hctrs : 0;
}

/* Whether the event exists, even if no counter can count it. */
static bool event_exists(const struct vpmu *v, unsigned long event_idx, uint64_t event_data)
{
	if ((event_idx & ~SBI_PMU_EVENT_IDX_MASK) != 0)
		return false;
	if (SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_FW)
		return vpmu_fw_event_exists(&v->policy, SBI_PMU_EVENT_CODE(event_idx)) &&
		       event_data == 0;
	if (SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_RAW)
		event_data >>= RAW_DATA_BITS;
	else if (SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_RAW_V2)
		event_data >>= RAW_V2_DATA_BITS;
	return event_data == 0 && hw_event_exists((uint32_t)event_idx);
}

/* Returns the hctrs that count an existing event correctly, and normalizes the event for
 * comparison. */
static uint64_t hart_hctrs(const struct vpmu *v, struct hw_event *event)
{
	uint64_t table = vpmu_table_hctrs(&v->policy, event->event_idx, event->event_data);

	/* The firmware need not be asked about an event that the core does not have. */
	if (table == 0)
		return 0;
	/* A raw event may be a standard event under another name. Both names share a counter, and
	 * emulated instructions count for both. */
	if (hw_event_is_raw(event->event_idx))
		vpmu_port_event_of_raw(&event->event_idx, &event->event_data);
	if (idle_spoils(&v->policy, event->event_idx))
		return 0;
	return table & vpmu_port_event_hctrs(event->event_idx, event->event_data);
}

/* Returns those hctrs that the VM may use for an event. */
static uint64_t granted(const struct vpmu_policy *policy, uint32_t event_idx, uint64_t hctrs)
{
	hctrs &= policy->hctrs;
	if (policy->budget_hctr != 0 && policy->budget_event != event_idx)
		hctrs &= ~bit64(policy->budget_hctr);
	/* The fixed counters cannot be used, because HS may be counting itself with one of them. */
	return policy->count_hs ? hctrs & ~HCTRS_FIXED : hctrs;
}

static struct vpmu_known known_event(uint32_t event_idx, uint64_t hctrs)
{
	/* Fixed counters are chosen last, see assign.c. */
	uint64_t usual = hctrs & ~HCTRS_FIXED;
	bool one = usual != 0 && (usual & (usual - 1)) == 0;

	return (struct vpmu_known){event_idx, (uint32_t)hctrs, one ? lowest_bit(usual) : 0};
}

void vpmu_know(const struct vpmu_policy *policy, struct vpmu_known known[VPMU_KNOWN],
               uint32_t event_idx, uint64_t hctrs)
{
	hctrs = granted(policy, event_idx, hctrs & vpmu_table_hctrs(policy, event_idx, 0));
	if (hctrs != 0 && event_allowed(policy, event_idx, 0) && !idle_spoils(policy, event_idx))
		known[vpmu_known_index(event_idx)] = known_event(event_idx, hctrs);
}

/* The result can be kept, because policy and hart never change. */
static bool look_up(struct vpmu *v, unsigned long event_idx, uint64_t event_data,
                    struct hw_event *event, uint64_t *hctrs)
{
	if (!event_exists(v, event_idx, event_data) ||
	    !event_allowed(&v->policy, (uint32_t)event_idx, event_data))
		return false;
	event->event_idx = (uint32_t)event_idx;
	event->event_data = event_data;
	*hctrs = 0;
	if (vpmu_event_is_fw(event))
		return true;
	*hctrs = hart_hctrs(v, event);
	/* event_idx may have changed: a raw event may be the budget's under another name. */
	*hctrs = granted(&v->policy, event->event_idx, *hctrs);
	/* Raw events are not remembered, because event_data would have to be compared as well. */
	if (hw_event_is_raw((uint32_t)event_idx))
		v->raw_hctrs = (uint32_t)*hctrs;
	else if (*hctrs != 0)
		v->known[vpmu_known_index(event_idx)] = known_event((uint32_t)event_idx, *hctrs);
	return *hctrs != 0;
}

/* Does not ask the port about raw events, because that may take counters from other vcpus. */
uint64_t vpmu_movable(const struct vpmu *v, hctr_t hctr)
{
	struct hw_event event = v->event[hctr.idx];
	const struct vpmu_known *known = &v->known[vpmu_known_index(event.event_idx)];
	uint64_t hctrs;

	/* The budget's counter does not move, nor does one whose OF the guest sees. */
	if (hctr.idx == v->policy.budget_hctr || (vpmu_shown_hctrs(v) & bit64(hctr.idx)) != 0)
		return 0;
	if (hw_event_is_raw(event.event_idx))
		hctrs = v->hctr[hctr.idx].able;
	else if (known->event_idx == event.event_idx)
		hctrs = known->hctrs;
	else
		hctrs = granted(&v->policy, event.event_idx, hart_hctrs(v, &event));
	return hctrs & ~HCTRS_FIXED;
}

bool vpmu_event_parse(struct vpmu *v, unsigned long event_idx, uint64_t event_data,
                      unsigned long config_flags, struct hw_event *event, uint64_t *hctrs)
{
	const struct vpmu_known *known = &v->known[vpmu_known_index(event_idx)];

	if (known->event_idx == event_idx && event_idx != 0 && event_data == 0) {
		event->event_idx = (uint32_t)event_idx;
		event->event_data = 0;
		*hctrs = known->hctrs;
	} else if (!look_up(v, event_idx, event_data, event, hctrs)) {
		return false;
	}
	/* Firmware events do not belong to a mode of the guest, so filters have no effect. */
	event->inhibit = *hctrs != 0 ? vpmu_reduced_filter(v, config_flags) : 0;
	return true;
}

uint64_t vpmu_event_hctrs(const struct vpmu *v, unsigned long event_idx, uint64_t event_data,
                          unsigned long config_flags, struct hw_event *event)
{
	if (SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_FW ||
	    !event_exists(v, event_idx, event_data))
		return 0;
	*event = (struct hw_event){
	    .event_idx = (uint32_t)event_idx,
	    .event_data = event_data,
	    .inhibit = vpmu_reduced_filter(v, config_flags),
	};
	/* The fixed counters are reserved for guests that count an event with two filters. */
	return hart_hctrs(v, event) & ~HCTRS_FIXED;
}
