/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dispatch/exit.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "core/hart/check.h"
#include "core/io/bells.h"
#include "core/io/dma.h"
#include "core/life/vm_life.h"
#include "core/sched/port.h"
#include "core/sched/run_state.h"
#include "core/sched/sched.h"
#include "core/sched/vcpu_move.h"
#include "core/sched/windows.h"
#include "core/sched/world_switch.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/vm.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"

static void count(struct vcpu *vcpu, uint32_t kind, uint32_t fw_event)
{
	vpmu_fw_events(&vcpu->pmu, fw_event, requests_take_count(&vcpu->requests, kind));
}

static void serve_fences(struct vcpu *vcpu, uint64_t pending)
{
	if (pending & REQ_FENCE_I) {
		fence_i();
		count(vcpu, REQ_GOT_FENCE_I, SBI_PMU_FW_FENCE_I_RECEIVED);
	}
	if (pending & REQ_VVMA) {
		vcpu_fence_vm(vcpu);
		count(vcpu, REQ_GOT_VVMA, SBI_PMU_FW_SFENCE_VMA_RECEIVED);
		count(vcpu, REQ_GOT_VVMA_ASID, SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED);
	}
}

void vcpu_serve_fences(struct vcpu *vcpu)
{
	serve_fences(vcpu, requests_take(&vcpu->requests, REQ_FENCES));
}

static void serve_devices(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;
	bool level;

	if (vm->config->aia)
		return;
	spin_lock(&vm->devices);
	level = vplic_output(&vm->plic, vcpu->id);
	spin_unlock(&vm->devices);
	vcpu_set_virq(vcpu, IRQ_VSEI, level);
}

/* Returns false if the VM is ending, or if the request is from its previous life. */
static bool serve_start(struct vcpu *vcpu)
{
	unsigned long pending = SBI_HSM_STATE_START_PENDING;
	bool has_file;

	if (atomic_load(&vcpu->vm->state) != VM_RUNNING || atomic_load(&vcpu->hsm_state) != pending)
		return false;
	/* First, because other vcpus may send it messages as soon as they see that it has
	 * started. */
	has_file = !vcpu->guest_file || guest_file_begin(vcpu);
	if (has_file && vcpu->guest_file && !vcpu->id)
		bells_started(vcpu->vm);
	if (!atomic_compare_exchange_strong(&vcpu->hsm_state, &pending, SBI_HSM_STATE_STARTED))
		return false;
	/* The vcpu may have stopped itself a moment ago and still be resident. */
	if (vcpu_is_current(vcpu)) {
		vcpu_cpu_time_stop(&vcpu->stats, csr_read(CSR_TIME));
		vcpu_put(vcpu->home, vcpu);
	}
	vcpu_reset(vcpu, vcpu->start_pc, vcpu->start_opaque);
	if (!has_file)
		vm_failed(vcpu, "its interrupt file is not where the host's tree says; file",
		          vcpu->guest_file);
	/* Like a hart after reset, it must not see translations or instructions that were cached
	 * before. If a sender found it not started and sent no fence, this fence comes after the
	 * sender's stores (docs/memory-order.md, "Fence to a vcpu that starts"). */
	atomic_thread_fence(memory_order_seq_cst);
	fence_i();
	vcpu_fence_vm(vcpu);
	if (vcpu->hart_flags && !vcpu->home->hpm.flags_hidden)
		hpm_show_flags(&vcpu->home->hpm);
	for (uint32_t kind = 0; kind < REQ_COUNTED; kind++)
		(void)requests_take_count(&vcpu->requests, kind);
	vcpu_unblock(vcpu, BLOCK_OFF);
	if (vcpu->id == 0)
		heart_watch(vcpu->vm);
	return true;
}

/* Requests that do not wait for the vcpu's time slice. Not inlined, because they are rare. */
static __attribute__((noinline)) void serve_at_once(struct vcpu *vcpu, uint64_t pending)
{
	if (pending & REQ_ARRIVE)
		vcpu_arrive(vcpu);
	/* Served even if the VM ends: a client waits for the answer. */
	if (pending & REQ_OBSERVE)
		vcpu_serve_observers(vcpu);
	if (pending & REQ_CHAINS && samples_go_on(vcpu))
		observe_before(vcpu);
	if (pending & REQ_FAULTS)
		dma_serve(vcpu->vm);
	if (pending & REQ_OUTPUT)
		sched_has_output(vcpu);
	if (pending & REQ_LIFE)
		vm_life_serve(vcpu->vm);
}

static void serve(struct vcpu *vcpu, uint64_t pending)
{
	CHECK(vcpu->home == this_pcpu());
	if (pending & REQ_AT_ONCE)
		serve_at_once(vcpu, pending);
	if (pending & REQ_STOP) {
		vcpu_remove(vcpu);
		return;
	}
	if (pending & REQ_START) {
		if (!serve_start(vcpu))
			return;
		/* Requests that were sent before the start are dropped, except for levels of
		 * interrupts. */
		pending = REQ_DEVICES;
	}
	if (pending & REQ_IPI) {
		vcpu_set_virq(vcpu, IRQ_VSSI, true);
		count(vcpu, REQ_GOT_IPI, SBI_PMU_FW_IPI_RECEIVED);
	}
	if (pending & REQ_DEVICES)
		serve_devices(vcpu);
	serve_fences(vcpu, pending);
	if (!vcpu_is_current(vcpu))
		sched_wake_if_interrupted(vcpu);
}

/* A resident vcpu leaves at the next world switch. Returns true if it belongs to another hart
 * now. */
static bool let_go(struct vcpu *vcpu)
{
	if (!vcpu_wants_to_move(vcpu))
		return false;
	if (!vcpu_is_current(vcpu))
		return vcpu_hand_over(vcpu);
	pcpu_resched(vcpu->home);
	return false;
}

void vcpu_serve_notified(struct vcpu *vcpu)
{
	struct pcpu *home = vcpu_home(vcpu);
	bool resident = vcpu_is_current(vcpu);

	if (home != this_pcpu()) {
		pcpu_notify(home, vcpu->bit);
		return;
	}
	/* It was notified before it left, or by an operator's request. The others wait for its next
	 * window. */
	if (!resident && vcpu_is_away(vcpu)) {
		if (requests_take(&vcpu->requests, REQ_OBSERVE))
			vcpu_serve_observers(vcpu);
		if (requests_are_pending(&vcpu->requests, REQ_ALL))
			pcpu_notify(home, vcpu->bit);
		return;
	}
	serve(vcpu, requests_take(&vcpu->requests, resident ? REQ_ALL : REQ_AT_ONCE));
	if (!resident)
		sched_enable_requests(vcpu);
	(void)let_go(vcpu);
}

bool vcpu_serve_turn(struct vcpu *vcpu)
{
	serve(vcpu, requests_take(&vcpu->requests, REQ_ALL));
	return !let_go(vcpu);
}
