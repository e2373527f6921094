/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware events: SBI 3.0 section 11.5. To its guests Tally is the firmware, and counts what it
 * does for them. Each event is counted once, in its total, whoever listens; a running counter
 * reads that total and its own offset. So any number of counters may count one event, and
 * counting costs one addition.
 */
#include "vpmu/internal.h"

void vpmu_fw_event(struct vpmu *v, uint32_t code)
{
	if (code < VPMU_FW_EVENTS)
		v->fw_total[code]++;
}
