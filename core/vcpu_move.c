/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu_move.h"

#include "arch/riscv/csr.h"
#include "arch/riscv/fence.h"
#include "core/sched.h"
#include "core/vcpu_registers.h"
#include "core/vm.h"
#include "vpmu/bits.h"

static uint64_t allowed(const struct vcpu *vcpu)
{
	return vcpu->vm->config->vcpus[vcpu->id].harts;
}

bool vcpu_move(struct vcpu *vcpu, uint64_t hartid)
{
	struct pcpu *to = pcpu_of_hart(hartid);

	if (!to || !(allowed(vcpu) & BIT(hartid)))
		return false;
	__atomic_store_n(&vcpu->goal, to, __ATOMIC_RELEASE);
	vcpu_request(vcpu, 0);
	return true;
}

void vcpu_roam(struct vcpu *vcpu)
{
	uint64_t mine = vcpu->home->hartid;
	uint64_t after = allowed(vcpu) & ~((BIT(mine) << 1) - 1);
	uint64_t next = lowest_bit(after ? after : allowed(vcpu));

	/* Nobody need be told: it is about to be looked at. */
	if (next != mine)
		__atomic_store_n(&vcpu->goal, pcpu_of_hart(next), __ATOMIC_RELAXED);
}

/* What the hart's counters hold of it is read, and they are nobody's. */
static void leave_counters(struct pcpu *pcpu, struct vcpu *vcpu)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(pcpu->hctr_owner); i++) {
		if (pcpu->hctr_owner[i] != vcpu)
			continue;
		vpmu_evict(&vcpu->pmu, (hctr_t){i});
		pcpu->hctr_owner[i] = NULL;
	}
}

void vcpu_hand_over(struct vcpu *vcpu)
{
	struct pcpu *from = vcpu->home;
	struct pcpu *to = __atomic_exchange_n(&vcpu->goal, NULL, __ATOMIC_ACQUIRE);

	if (!to || to == from)
		return;
	leave_counters(from, vcpu);
	vcpu_registers_leave(vcpu);
	/* The books of a stay on its behalf are closed while they are this hart's. */
	if (from->stay_of == vcpu) {
		pcpu_account_stay(from);
		from->stay_of = NULL;
	}
	vcpu->carried = sched_leave(vcpu);
	vcpu->moves++;
	atomic_fetch_or(&vcpu->requests, VCPU_REQ_ARRIVE);
	/* From here on it is not ours. */
	__atomic_store_n(&vcpu->home, to, __ATOMIC_RELEASE);
	pcpu_notify(to, BIT(vcpu->index));
}

/* WFI traps where a hart has several vcpus. Those here before may have been alone. */
static void share_the_hart(const struct pcpu *pcpu)
{
	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		struct vcpu *vcpu = pcpu->vcpus[i];

		if (vcpu_home(vcpu) != pcpu || vcpu->wfi_traps)
			continue;
		if (vcpu == pcpu->current) {
			vcpu_trap_wfi(vcpu, true);
		} else {
			vcpu->wfi_traps = true;
			vcpu->vs.hstatus |= HSTATUS_VTW;
		}
	}
}

void vcpu_arrive(struct vcpu *vcpu)
{
	/* What this hart has cached of it is from before it left, or never was. */
	fence_i();
	vcpu_fence_vm(vcpu);
	sched_arrive(vcpu, vcpu->carried);
	if (vcpu->home->n_vcpus > 1)
		share_the_hart(vcpu->home);
}
