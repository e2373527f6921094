/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/vcpu_move.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "core/sched/port.h"
#include "core/sched/run_state.h"
#include "core/vcpu/stay.h"
#include "core/hart/check.h"
#include "core/hart/roam.h"
#include "core/sched/sched.h"
#include "core/vcpu/ledger.h"
#include "core/vcpu/vcpu_registers.h"
#include "core/vcpu/vm.h"
#include "core/watch/observe.h"
#include "vpmu/bits.h"

bool vcpu_move(struct vcpu *vcpu, uint64_t hartid)
{
	struct pcpu *to = pcpu_of_hart(hartid);

	if (!to || !(vcpu->vm->config->vcpus[vcpu->id].harts & BIT(to->index)))
		return false;
	__atomic_store_n(&vcpu->migrate_to, to, __ATOMIC_RELAXED); /* REQ_MOVE publishes it */
	vcpu_request(vcpu, REQ_MOVE);
	return true;
}

/* Reads the counts that the hart's counters hold for the vcpu, and frees the counters. */
static void leave_counters(struct pcpu *pcpu, struct vcpu *vcpu)
{
	for (uint32_t i = 0; i < ARRAY_SIZE(pcpu->hctr_owner); i++) {
		if (pcpu->hctr_owner[i] != vcpu)
			continue;
		vpmu_evict(&vcpu->pmu, (hctr_t){i});
		ledger(LEDGER_EVICTED, i, vcpu, 0);
		pcpu->hctr_owner[i] = NULL;
		ledger(LEDGER_OWNS, i, NULL, 0);
	}
}

bool vcpu_hand_over(struct vcpu *vcpu)
{
	struct pcpu *from = vcpu->home;
	struct pcpu *to = __atomic_exchange_n(&vcpu->migrate_to, NULL, __ATOMIC_RELAXED);

	CHECK(from == this_pcpu() && !vcpu_is_current(vcpu));
	if (!to || to == from)
		return false;
	leave_counters(from, vcpu);
	vcpu_registers_leave(vcpu);
	/* A stay for the vcpu must be accounted while it still belongs to this hart. */
	if (from->stay_vcpu == vcpu) {
		pcpu_account_stay(from);
		from->stay_vcpu = NULL;
	}
	vcpu_block(vcpu, BLOCK_MOVE);
	/* vcpu_arrive() looks for requests anew. */
	vcpu_turn_over(vcpu, TURN_REQUESTS);
	vcpu_wake_at(vcpu, ~0UL);
	pcpu_add_vcpus(from, -1);
	vcpu_observers_leave(vcpu);
	vcpu->moves++;
	atomic_fetch_or(&vcpu->requests.pending, REQ_ARRIVE);
	requests_disable(&vcpu->requests);
	if (vcpu->id == 0)
		heart_ignore(vcpu->vm);
	if (vcpu->vm->config->n_devices)
		fence_release_all(); /* its guest's accesses to devices */
	/* From here on the vcpu belongs to the new home. */
	vcpu_set_home(vcpu, to);
	pcpu_notify(to, vcpu->bit);
	return true;
}

/* Makes WFI trap, as it must on a hart with several vcpus, for those that were alone here. */
static void share_the_hart(const struct pcpu *pcpu)
{
	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		struct vcpu *vcpu = pcpu->vcpus[i];

		if (vcpu_home(vcpu) != pcpu || vpmu_wfi_traps(&vcpu->pmu))
			continue;
		vpmu_note_wfi(&vcpu->pmu, true);
		vcpu->vs.hstatus |= HSTATUS_VTW;
		if (vcpu == pcpu->current)
			csr_set(CSR_HSTATUS, HSTATUS_VTW);
	}
}

static void join(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu_add_vcpus(pcpu, 1);
	vcpu_observers_arrive(vcpu);
	vcpu_wake_at(vcpu, vcpu_deadline(vcpu));
	vcpu_unblock(vcpu, BLOCK_MOVE);
	if (run_state_sleeps(&vcpu->run))
		sched_wake_in_time(vcpu);
	pcpu_resched(pcpu);
	sched_enable_requests(vcpu);
	/* It left in a turn in which it did not wake. */
	if (vcpu->run.blocked && !vcpu->run.turns)
		vcpu_steal_drop(vcpu);
}

/* Routes interrupts of the VM's devices to this hart, if they are enabled for the vcpu. */
static void follow_wires(struct vm *vm)
{
	spin_lock(&vm->devices);
	wired_update_routes(vm);
	spin_unlock(&vm->devices);
}

void vcpu_arrive(struct vcpu *vcpu)
{
	roam_nap();
	if (vcpu->vm->config->n_devices)
		fence_acquire_all(); /* its guest's accesses to devices */
	/* Instructions and translations may still be cached from when the vcpu was here last. */
	fence_i();
	vcpu_fence_vm(vcpu);
	join(vcpu->home, vcpu);
	if (vcpu->id == 0 && atomic_load(&vcpu->vm->state) == VM_RUNNING)
		heart_watch(vcpu->vm);
	if (vcpu->vm->wired)
		follow_wires(vcpu->vm);
	if (vcpu->home->n_vcpus > 1)
		share_the_hart(vcpu->home);
}
