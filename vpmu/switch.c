/* SPDX-License-Identifier: Apache-2.0 */
/*
 * World switch. Between save and restore the hart's counters belong to somebody else; this
 * vcpu's running counters keep their offsets, each hctr its count, and go on from there.
 */
#include "vpmu/internal.h"

static void park(struct vpmu *v)
{
	uint64_t active = v->active;
	uint32_t i;

	/* Before the stop: what pends must be given to this vcpu, not to the next one. */
	(void)vpmu_take_overflows(v);
	vpmu_port_stop(active);
	for_each_bit (i, active)
		vpmu_hctr_sync(v, (hctr_t){i});
	vpmu_drop_pending(v);
	v->parked = active;
	v->active = 0;
	v->armed = 0;
	v->in_step = 0;
}

void vpmu_save(struct vpmu *v)
{
	if (v->active != 0)
		park(v);
	/* The values of stopped counters will not survive in the hardware. */
	v->held = 0;
	vpmu_update_direct(v);
	vpmu_raise_due(v);
}

void vpmu_restore(struct vpmu *v)
{
	uint64_t parked = v->parked;

	if (parked == 0)
		return;
	v->parked = 0;
	vpmu_apply(v, parked, 0, 0);
}
