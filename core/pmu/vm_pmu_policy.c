/* SPDX-License-Identifier: Apache-2.0 */
#include "core/pmu/vm_pmu.h"

#include "arch/riscv/hart/quirks.h"
#include "core/hart/hart_kind.h"
#include "core/pmu/budget_hart.h"
#include "vpmu/bits.h"
#include "vpmu/tally_events.h"

/* Firmware events that Tally itself serves and therefore counts exactly (SBI 3.0 section 11.5). */
#define FW_EVENTS_SERVED                                                                           \
	(BIT(SBI_PMU_FW_SET_TIMER) | BIT(SBI_PMU_FW_IPI_SENT) | BIT(SBI_PMU_FW_IPI_RECEIVED) |     \
	 BIT(SBI_PMU_FW_FENCE_I_SENT) | BIT(SBI_PMU_FW_FENCE_I_RECEIVED) |                         \
	 BIT(SBI_PMU_FW_SFENCE_VMA_SENT) | BIT(SBI_PMU_FW_SFENCE_VMA_RECEIVED) |                   \
	 BIT(SBI_PMU_FW_SFENCE_VMA_ASID_SENT) | BIT(SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED))

/*
 * Fills in the results of a vcpu's first configuration of each event. They are left to the vcpu if
 * the harts of the VM differ, or while the harts do not know yet that guests see their OF bits.
 */
static void know_events(struct vm *vm)
{
	struct hpm *hpm = &vm->vcpus[0]->home->hpm;

	if (vm->pmu_policy.hart_flags)
		return;
	for (uint32_t i = 1; i < vm->config->n_vcpus; i++) {
		if (harts_differ(vm->config->vcpus[0].first_hart, vm->config->vcpus[i].first_hart))
			return;
	}
	for (uint32_t i = 0; i < hpm->n_events; i++) {
		uint32_t event_idx = hpm->events[i].event_idx;

		vpmu_know(&vm->pmu_policy, vm->pmu_known, event_idx,
		          hpm_event_hctrs(hpm, event_idx, 0, 0));
	}
	vm->pmu_policy.known = vm->pmu_known;
}

/* Marks the vcpu and its harts if it reads their scountovf. */
static void read_hart_flags(struct vm *vm, uint32_t i)
{
	const struct vpmu_policy *policy = &vm->pmu_policy;
	uint32_t hart;

	vm->vcpus[i]->hart_flags = policy->hart_flags || policy->shows_flags;
	vm->vcpus[i]->flags_due = policy->hart_flags;
	if (!policy->shows_flags)
		return;
	for_each_bit (hart, vm->config->vcpus[i].harts)
		pcpu_at(hart)->hpm.hart_flags = true;
}

void vm_pmu_policy_make(struct vm *vm)
{
	struct vpmu_policy *policy = &vm->pmu_policy;
	uint64_t hctrs = ~0UL, harts = 0;

	*policy = (struct vpmu_policy){
	    .width = 64,
	    .trap_reads = vm->config->pmu_trap_reads,
	    .snapshot = vm->config->pmu_snapshot,
	    .count_hs = vm->config->pmu_freeze_vcpu,
	    .cheap_moves = true,
	    .wfi_recounts = quirks.wfi_recounts,
	    .polled_cache = quirks.no_armed_cache_events,
	    .idle_cycles = vm->config->pmu_idle_cycles,
	    .fw_events = FW_EVENTS_SERVED,
	    .fw_port_events = (1U << FW_EVENTS_M) - 1,
	    .n_tally_events = TALLY_EVENTS,
	    .events = vm->config->pmu_events_given ? vm->config->pmu_events : NULL,
	    .n_events = vm->config->n_pmu_events,
	    .table = vm->pmu_table.selectors ? &vm->pmu_table : NULL,
	};
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		const struct hpm *hpm = &vm->vcpus[i]->home->hpm;

		hctrs &= hpm->hctrs;
		policy->cheap_moves &= hpm->delegated;
		policy->steps = policy->cheap_moves;
		policy->fw_port_events &= vm->vcpus[i]->home->fw_events.codes;
		if (hpm->width < policy->width)
			policy->width = hpm->width;
	}
	vm_overflow_policy(vm);
	/* The hart's OF bit is that of the guest only while the counter is direct, so the counter
	 * is kept direct at any cost. */
	policy->cheap_moves |= policy->hart_flags;
	policy->moves = !quirks.home_counters && !policy->hart_flags && !policy->count_hs;
	hctrs = vm_pmu_hctrs(hctrs, policy->hart_flags);
	policy->fw_base = hctrs ? highest_bit(hctrs) + 1 : 3;
	policy->hctrs = vm->config->pmu ? hctrs & vm->config->pmu_counters : 0;
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		read_hart_flags(vm, i);
		harts |= vm->config->vcpus[i].harts;
	}
	/* The vcpus of such a VM do not move: vm_parse_budget(). */
	if (vm->config->budget.count) {
		policy->budget_event = vm->config->budget.event_idx;
		policy->budget_hctr = (uint8_t)budget_hctr(harts, policy->budget_event);
	}
	know_events(vm);
}
