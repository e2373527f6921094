/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "core/panic.h"
#include "core/vm/vm.h"
#include "core/vsbi/vsbi.h"
#include "vpmu/bits.h"

VSBI_FN(vsbi_not_supported)
{
	return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
}

static void offer(struct vm *vm, uint64_t eid, vsbi_fn *fn)
{
	struct vsbi_slot *slot = &vm->sbi[vsbi_hash(eid)];

	if (slot->fn)
		panic("vsbi: extensions %lx and %lx have one hash", slot->eid, eid);
	*slot = (struct vsbi_slot){.eid = eid, .fn = fn};
}

/* switch.S finds an extension in vcpu->ctx.calls itself. */
_Static_assert(offsetof(struct vsbi_slot, eid) == 0 && offsetof(struct vsbi_slot, fn) == 8 &&
                   sizeof(struct vsbi_slot) == 16 && VSBI_SLOTS == 16,
               "what switch.S knows of the slots");

void vsbi_init(struct vm *vm)
{
	offer(vm, SBI_EXT_BASE, vsbi_base);
	offer(vm, SBI_EXT_TIME, vsbi_time);
	offer(vm, SBI_EXT_IPI, vsbi_ipi);
	offer(vm, SBI_EXT_RFENCE, vsbi_rfence);
	offer(vm, SBI_EXT_HSM, vsbi_hsm);
	offer(vm, SBI_EXT_SRST, vsbi_srst);
	if (vm->config->console)
		offer(vm, SBI_EXT_DBCN, vsbi_dbcn);
	if (vm->config->pmu)
		offer(vm, SBI_EXT_PMU, vm->pmu_policy.hart_flags ? vsbi_pmu_hart_flags : vsbi_pmu);
	/* Slot 0 cannot be marked empty by id 0, which hashes to it and is an extension of the
	 * legacy SBI. */
	if (!vm->sbi[0].fn)
		vm->sbi[0].fn = vsbi_not_supported;
}

bool vsbi_has(const struct vm *vm, uint64_t eid)
{
	const struct vsbi_slot *slot = &vm->sbi[vsbi_hash(eid)];

	return slot->eid == eid && slot->fn != vsbi_not_supported;
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
