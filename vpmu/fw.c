/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware events: SBI 3.0 section 11.5. For its guests Tally is the firmware, and counts its work
 * for them. Each event is counted once, in its total, whether or not a counter counts it. A running
 * counter reads the total plus its own offset. So any number of counters may count one event, and
 * an event costs one addition. The port keeps the totals of events that only the firmware below
 * Tally sees, and of Tally's own events.
 */
#include "vpmu/internal.h"

void vpmu_fw_update_watch(struct vpmu *v)
{
	uint32_t watched = 0;
	uint32_t i;

	if (v->policy.fw_port_events == 0)
		return;
	for_each_bit (i, v->running & v->fw_lctrs) {
		uint32_t code = SBI_PMU_EVENT_CODE(v->counter[i].event_idx);

		if (code < VPMU_FW_EVENTS)
			watched |= v->policy.fw_port_events & 1U << code;
	}
	if (watched != v->fw_watched) {
		v->fw_watched = watched;
		vpmu_port_fw_watch(watched);
	}
}
