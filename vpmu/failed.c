/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A start or a stop that the hardware has refused. vpmu/ learns this afterwards, before the guest
 * can read a value. A counter that should run has stood still at its initial value, or was not set.
 * A counter that should be stopped stands still until HS is left, and its value was read before.
 */
#include "vpmu/hctr.h"

void vpmu_handle_failed(struct vpmu *v, uint64_t hctrs)
{
	uint64_t active = v->active & hctrs;
	uint64_t lost;
	uint32_t i;

	/* All are removed before the first one is lost, because vpmu_lose() may poll those that are
	 * active. */
	v->active &= ~hctrs;
	for_each_bit (i, hctrs) {
		/* The contents of the hctr cannot be used again. */
		vpmu_evict(v, (hctr_t){i});
		vpmu_stop_showing(v, (hctr_t){i});
	}
	for_each_bit (i, active) {
		lost = v->hctr[i].users & v->running;
		vpmu_lose(v, (hctr_t){i});
		/* Not all paths that lead here have read the count. */
		v->unknown |= lost;
	}
	if ((v->direct & hctrs) != 0) {
		v->direct &= ~hctrs;
		vpmu_port_set_direct(v->direct);
	}
	vpmu_raise_due(v);
}
