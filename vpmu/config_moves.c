/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configuring a counter on a hart where events can move (vpmu_policy.moves). The call is made as
 * elsewhere first. That is refused if all hctrs for the event count others; then moves may make
 * room, and the call is made once more.
 */
#include "vpmu/hctr.h"

static enum vpmu_room make_room(struct vpmu *v, uint64_t set, unsigned long config_flags,
                                unsigned long event_idx, uint64_t event_data)
{
	struct hw_event event;
	uint64_t hctrs;
	uint64_t lctrs;

	if (set == 0 || !vpmu_event_parse(v, event_idx, event_data, config_flags, &event, &hctrs) ||
	    vpmu_event_is_fw(&event))
		return VPMU_NO_ROOM;
	if ((config_flags & SBI_PMU_CFG_FLAG_SKIP_MATCH) != 0)
		set = bit64(lowest_bit(set));
	lctrs = vpmu_takers(v, set, &event) & ~v->running;
	if (lctrs == 0)
		return VPMU_NO_ROOM;
	/* As elsewhere, a stopped counter is configured anew only if all are configured. */
	return vpmu_make_room(v, hctrs, (lctrs & ~v->configured) != 0 ? 0 : lctrs);
}

struct sbi_ret vpmu_config_movable(struct vpmu *v, unsigned long counter_idx_base,
                                   unsigned long counter_idx_mask, unsigned long config_flags,
                                   unsigned long event_idx, uint64_t event_data)
{
	struct sbi_ret ret;
	uint64_t set;

	if (!vpmu_counter_set(v, counter_idx_base, counter_idx_mask, &set))
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	ret = vpmu_config_here(v, set, config_flags, event_idx, event_data);
	if (ret.error == SBI_ERR_NOT_SUPPORTED) {
		enum vpmu_room room = make_room(v, set, config_flags, event_idx, event_data);

		if (room == VPMU_MORE_ROOM)
			return vpmu_result(VPMU_AGAIN, 0);
		if (room == VPMU_ROOM)
			ret = vpmu_config_here(v, set, config_flags, event_idx, event_data);
	}
	/* Only now, because a call that fails leaves the hctr to another event. */
	if (ret.error == SBI_SUCCESS && hw_event_is_raw((uint32_t)event_idx))
		v->hctr[v->counter[ret.value].hctr].able = v->raw_hctrs;
	return ret;
}
