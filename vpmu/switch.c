/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The world switch. When a vcpu leaves, its counters are stopped and keep their contents. If no
 * other vcpu takes one of them, one call of the port starts all of them again when it comes back.
 * Before another vcpu takes one, the port calls vpmu_evict(), which reads its count.
 */
#include "vpmu/hctr.h"

static void park(struct vpmu *v)
{
	uint64_t active = v->active;
	/* Taken before the stop, because pending overflows belong to this vcpu, not to the next
	 * one. */
	uint64_t changed = vpmu_take_overflows(v);
	uint32_t i;

	/* An emulated instruction may have ended direct reads of an hctr. If the next restore sets
	 * it again, they are possible again. */
	changed |= active & v->running & ~v->in_step;
	vpmu_port_stop(active);
	/* A wrap must be reported now, even if the hart has not reported it. */
	for_each_bit (i, v->near != 0 || v->needs_slow_path || changed != 0 ? active : 0)
		if (vpmu_hctr_sync(v, (hctr_t){i}))
			changed |= bit64(i);
	if (v->needs_slow_path) {
		vpmu_fixed_release(v, active);
		/* Counters that count HS have advanced since they were read. */
		changed |= v->policy.count_hs ? active : active & HCTRS_FIXED;
	}
	vpmu_drop_pending(v);
	v->parked = active;
	v->active = 0;
	/* Their anchors must be chosen again. */
	v->owned &= ~changed;
	v->in_step &= ~changed;
	v->armed &= ~changed;
}

void vpmu_save(struct vpmu *v)
{
	if (v->active != 0)
		park(v);
	if (v->polling)
		vpmu_end_polling(v);
	vpmu_set_direct(v, 0);
	vpmu_raise_due(v);
}

void vpmu_evict(struct vpmu *v, hctr_t hctr)
{
	uint64_t bit = bit64(hctr.idx);

	if ((v->owned & bit) == 0)
		return;
	if ((v->parked & bit) != 0)
		vpmu_hctr_sync(v, hctr);
	v->owned &= ~bit;
	v->in_step &= ~bit;
	v->armed &= ~bit;
}

void vpmu_finish_evict(struct vpmu *v)
{
	vpmu_set_direct(v, v->direct & v->in_step);
}

/* Sets hctrs of solo counters, which other vcpus have used, to the counts at which they stopped.
 * Returns those that can be run. */
static __attribute__((flatten)) uint64_t set_again(struct vpmu *v, uint64_t hctrs)
{
	uint64_t ready = 0;
	uint32_t i;

	for_each_bit (i, hctrs)
		ready |= vpmu_set(v, (hctr_t){i}, bit64(i));
	v->in_step |= ready;
	return ready;
}

void vpmu_restore(struct vpmu *v)
{
	uint64_t untouched = v->parked & v->owned;
	uint64_t touched = v->parked & ~untouched;
	uint64_t solo = touched & v->solo;

	v->parked = 0;
	/* Polls before any hctr is set, because an hctr that the hardware refuses to set may have
	 * any value. */
	if (v->needs_slow_path)
		vpmu_resume_polling(v);
	if (solo != 0)
		untouched |= set_again(v, solo);
	vpmu_apply(v, touched & ~solo, 0, untouched);
}
