/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a start or a stop fails, and that is found out when all is done: nothing has been read
 * meanwhile. A counter that was to run has stood still at what it was set to, or not been set; one
 * that was to stop stands still as long as HS does not leave, and its value was taken before.
 */
#include "vpmu/hctr.h"

void vpmu_failed(struct vpmu *v, uint64_t hctrs)
{
	uint64_t lost;
	uint32_t i;

	for_each_bit (i, hctrs) {
		hctr_t hctr = {i};

		/* The hardware holds nothing any more that could go on from where it is. */
		vpmu_evict(v, hctr);
		if ((v->active & bit64(i)) == 0)
			continue;
		v->active &= ~bit64(i);
		lost = v->hctr[i].users & v->running;
		vpmu_lose(v, hctr);
		/* Where it stands was not looked at on each way that leads here. */
		v->unknown |= lost;
	}
	if ((v->direct & hctrs) != 0) {
		v->direct &= ~hctrs;
		vpmu_port_set_direct(v->direct);
	}
	vpmu_raise_due(v);
}
