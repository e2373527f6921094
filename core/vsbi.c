/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/csr.h"
#include "arch/riscv/trap.h"
#include "core/vm.h"
#include "core/vsbi.h"
#include "vpmu/bits.h"

static vsbi_fn *find(const struct vm *vm, uint64_t eid)
{
	switch (eid) {
	case SBI_EXT_BASE:
		return vsbi_base;
	case SBI_EXT_PMU:
		return vm->config->pmu ? vsbi_pmu : NULL;
	case SBI_EXT_TIME:
		return vsbi_time;
	case SBI_EXT_IPI:
		return vsbi_ipi;
	case SBI_EXT_RFENCE:
		return vsbi_rfence;
	case SBI_EXT_HSM:
		return vsbi_hsm;
	case SBI_EXT_SRST:
		return vsbi_srst;
	case SBI_EXT_DBCN:
		return vm->config->console ? vsbi_dbcn : NULL;
	default:
		return NULL;
	}
}

bool vsbi_has(const struct vm *vm, uint64_t eid)
{
	return find(vm, eid);
}

bool ecall_fast(struct guest_context *ctx)
{
	struct vcpu *vcpu = vcpu_of(ctx);
	vsbi_fn *fn = find(vcpu->vm, ctx->x[REG_A7]);
	struct sbi_ret ret = {.error = SBI_ERR_NOT_SUPPORTED, .value = 0};

	/* The guest goes on behind the call, wherever the call itself sends it. */
	csr_write(CSR_SEPC, csr_read(CSR_SEPC) + 4);
	if (fn)
		ret = fn(vcpu, ctx->x[REG_A6], &ctx->x[REG_A0]);
	ctx->x[REG_A0] = (uint64_t)ret.error;
	ctx->x[REG_A1] = ret.value;
	return vcpu->home->resched;
}

bool vsbi_for_each_hart(struct vcpu *vcpu, uint64_t hart_mask, uint64_t hart_mask_base,
                        void (*fn)(struct vcpu *self, struct vcpu *target, uint64_t arg),
                        uint64_t arg)
{
	struct vm *vm = vcpu->vm;
	uint64_t all = BIT(vm->config->n_vcpus) - 1;

	if (hart_mask_base == ~0UL)
		hart_mask = all;
	else if (hart_mask && hart_mask_base >= VM_MAX_VCPUS)
		return false;
	else if (hart_mask && (hart_mask > all || (hart_mask << hart_mask_base) & ~all))
		return false;
	else if (hart_mask)
		hart_mask <<= hart_mask_base;
	for (; hart_mask; hart_mask &= hart_mask - 1)
		fn(vcpu, vm->vcpus[lowest_bit(hart_mask)], arg);
	return true;
}
