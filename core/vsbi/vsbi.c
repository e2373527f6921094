/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "core/panic.h"
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"
#include "vpmu/bits.h"

VSBI_FN(vsbi_not_supported)
{
	return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
}

static struct vsbi_slot *offer(struct vm *vm, const struct vsbi_slot *extension)
{
	struct vsbi_slot *slot = &vm->sbi[extension->eid % VSBI_SLOTS];

	if (slot->eid)
		panic("vsbi: extensions %lx and %lx have one slot", slot->eid, extension->eid);
	*slot = *extension;
	for (uint32_t i = 0; i < VSBI_FUNCTIONS; i++) {
		if (!slot->fn[i])
			slot->fn[i] = vsbi_not_supported;
	}
	return slot;
}

static void offer_pmu(struct vm *vm)
{
	struct vsbi_slot *slot = offer(vm, &vsbi_pmu);

	if (vm->pmu_policy.shows_flags) {
		slot->fn[SBI_PMU_COUNTER_CONFIG_MATCHING] = vsbi_pmu_config_shown;
		slot->fn[SBI_PMU_COUNTER_START] = vsbi_pmu_start_shown;
		slot->fn[SBI_PMU_COUNTER_STOP] = vsbi_pmu_stop_shown;
	}
	for (uint32_t i = 0; vm->pmu_policy.hart_flags && i < VSBI_FUNCTIONS; i++) {
		if (vsbi_pmu.fn[i])
			slot->fn[i] = vsbi_pmu_hart_flags;
	}
}

/* A VM without heartbeat-ms gets NOT_SUPPORTED for RING. */
static void offer_tally(struct vm *vm)
{
	struct vsbi_slot *slot = offer(vm, &vsbi_tally);

	if (!vm->config->heartbeat_ms)
		slot->fn[SBI_TALLY_RING] = vsbi_not_supported;
}

/* switch.S looks up calls in vcpu->ctx.calls by itself. */
_Static_assert(offsetof(struct vsbi_slot, eid) == 0 && offsetof(struct vsbi_slot, fn) == 8 &&
                   sizeof(struct vsbi_slot) == 1 << 7,
               "what switch.S knows of the slots");

void vsbi_init(struct vm *vm)
{
	struct vsbi_slot *time, *ipi;

	/* Slot 0 must stay empty: an empty slot has id 0, which is an id of the legacy SBI. */
	(void)offer(vm, &(struct vsbi_slot){0});
	(void)offer(vm, &vsbi_base);
	time = offer(vm, &vsbi_time);
	ipi = offer(vm, &vsbi_ipi);
	if (vm->config->aia) {
		time->fn[SBI_TIME_SET_TIMER] = vsbi_set_timer_aia;
		ipi->fn[SBI_IPI_SEND_IPI] = vsbi_send_ipi_aia;
	}
	(void)offer(vm, &vsbi_rfence);
	(void)offer(vm, &vsbi_hsm);
	(void)offer(vm, &vsbi_srst);
	if (vm->config->console)
		(void)offer(vm, &vsbi_dbcn);
	if (vm->config->pmu)
		offer_pmu(vm);
	if (vm->config->controls || vm->config->heartbeat_ms)
		offer_tally(vm);
}

bool vsbi_for_each_hart(struct vcpu *vcpu, uint64_t hart_mask, uint64_t hart_mask_base,
                        void (*fn)(struct vcpu *self, struct vcpu *target, uint64_t arg),
                        uint64_t arg)
{
	struct vm *vm = vcpu->vm;
	uint64_t all = BIT(vm->config->n_vcpus) - 1;

	if (hart_mask_base == ~0UL)
		hart_mask = all;
	else if (hart_mask_base >= vm->config->n_vcpus || hart_mask > all >> hart_mask_base)
		return false;
	else
		hart_mask <<= hart_mask_base;
	for (; hart_mask; hart_mask &= hart_mask - 1)
		fn(vcpu, vm->vcpus[lowest_bit(hart_mask)], arg);
	return true;
}
