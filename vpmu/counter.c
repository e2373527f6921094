/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The states of a logical counter: SBI 3.0 sections 11.9 and 11.10. config.c configures counters.
 *
 *                      config_matching                start
 *     UNCONFIGURED ----------------------> STOPPED -----------> RUNNING
 *       ^  ^  ^                            |  ^  ^               |  |  |
 *       |  |  +------- stop, RESET --------+  |  +---- stop -----+  |  |
 *       |  +------------------------- stop, RESET ------------------+  |
 *       |                                     |                        |
 *       |                      config_matching|   the hart refuses it: |
 *       |                                     |   start, restore, or a |
 *       |                                     |   sharer's start/stop  |
 *       +----------- stop, RESET ------------ LOST <-------------------+
 *                                              |  ^
 *                                              +--+ start refused (granted: RUNNING)
 *
 * UNCONFIGURED: in none of `configured`, `running` and `lost`. It has no hctr, OF is 0, and reads
 * of its CSR are illegal. Its value is kept, and the next start without a value uses it.
 *
 * STOPPED: in `configured`. It has an hctr, and keeps it together with event, filter, value and OF.
 *
 * RUNNING: in `configured` and `running`. Its hctr is active while the vcpu is resident.
 *
 * LOST: in `configured` and `lost`. Reads of its CSR are illegal, because it may have missed
 * events, and no number is better than a wrong one. A plain stop returns ALREADY_STOPPED and leaves
 * it LOST. If its value is not known either, only a start with a given value can start it.
 *
 * A hardware counter is RUNNING only if the hart has started it; otherwise the start makes it LOST.
 * Firmware counters are never LOST. config_matching with AUTO_START does both in one call. For a
 * counter that is STOPPED or RUNNING already, see config.c.
 */
#include <stddef.h>

#include "vpmu/budget.h"
#include "vpmu/hctr.h"

#define NEAR (UINT64_C(1) << 62)

void vpmu_init(struct vpmu *v, const struct vpmu_policy *policy)
{
	uint32_t i;

	*v = (struct vpmu){.policy = *policy};
	for (i = 0; i < VPMU_KNOWN && policy->known != NULL; i++)
		v->known[i] = policy->known[i];
	v->value_mask = policy->width >= 64 ? UINT64_MAX : bit64(policy->width) - 1;
	v->near_span = policy->overflow ? NEAR : 0;
	v->fw_lctrs = (bit64(VPMU_FW_COUNTERS) - 1) << policy->fw_base;
	v->all_lctrs = v->fw_lctrs | policy->hctrs;
	v->openable = policy->trap_reads ? 0 : UINT64_MAX;
	v->hctr[HCTR_CYCLE].users = VPMU_HS_USES;
	v->hctr[HCTR_INSTRET].users = VPMU_HS_USES;
	v->polled = HCTRS_FIXED;
	v->needs_slow_path = policy->count_hs;
	v->wfi_traps = true;
	if (policy->budget_hctr != 0)
		vpmu_budget_configure(v);
}

void vpmu_clear(struct vpmu *v)
{
	/* A copy, because vpmu_init() overwrites *v. */
	struct vpmu_policy policy = v->policy;
	int64_t left = 0;

	if (policy.budget_hctr != 0) {
		vpmu_evict(v, (hctr_t){policy.budget_hctr});
		left = vpmu_budget_left(v);
	}
	vpmu_init(v, &policy);
	if (policy.budget_hctr != 0)
		(void)vpmu_budget_set(v, false, left);
}

void vpmu_reset(struct vpmu *v)
{
	bool wfi_traps = v->wfi_traps;

	if (v->active != 0) {
		/* Reports a budget that has just been spent. */
		if (v->policy.budget_hctr != 0)
			(void)vpmu_take_overflows(v);
		(void)vpmu_port_take_overflow(v->armed);
		vpmu_port_stop(v->active);
		vpmu_fixed_release(v, v->active);
		vpmu_drop_pending(v);
		v->parked = v->active;
		v->active = 0;
	}
	if (v->polling)
		vpmu_end_polling(v);
	if (v->direct != 0)
		vpmu_port_set_direct(0);
	if (v->fw_watched != 0)
		vpmu_port_fw_watch(0);
	vpmu_clear(v);
	v->wfi_traps = wfi_traps;
}

void vpmu_forget(struct vpmu *v, uint64_t set)
{
	uint32_t i;

	set &= v->configured;
	for_each_bit (i, set & v->unknown)
		v->counter[i].value = 0;
	v->unknown &= ~set;
	v->configured &= ~set;
	v->lost &= ~set;
	v->overflow &= ~set;
	v->in_step &= ~set;
	for_each_bit (i, set & v->policy.hctrs) {
		hctr_t hctr = {v->counter[i].hctr};

		v->hctr[hctr.idx].users &= ~bit64(i);
		vpmu_note_solo(v, hctr);
	}
}
