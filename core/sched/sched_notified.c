/* SPDX-License-Identifier: Apache-2.0 */
/* Work for one vcpu in the time slice of another, and its accounting. */
#include "arch/riscv/hart/csr.h"
#include "core/sched/port.h"
#include "core/sched/run_state.h"
#include "core/vcpu/stay.h"
#include "core/hart/check.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/vm.h"
#include "core/watch/observe.h"
#include "vpmu/bits.h"

/*
 * Begins work for a vcpu in the time slice of the resident one. If they belong to different VMs,
 * the resident vcpu has steal time until sched_end_steal(). Work that the hart did before in this
 * stay for a vcpu of a third VM is accounted to that VM.
 */
static void steal_for(struct pcpu *pcpu, struct vcpu *vcpu)
{
	struct vcpu *current = pcpu->current;

	if (current && current->stats.steal_since && pcpu->notified_vcpu &&
	    pcpu->notified_vcpu->vm != vcpu->vm) {
		sched_end_steal(pcpu, current, csr_read(CSR_TIME));
		pcpu_resched(pcpu); /* its time slice ends later */
	}
	pcpu->notified_vcpu = vcpu;
	if (current == vcpu)
		return;
	observe_before(vcpu);
	if (current && current->vm != vcpu->vm)
		vcpu_steal_begin(current, csr_read(CSR_TIME));
}

static void account_rest_to(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu_account_to(pcpu, vcpu, EXIT_IRQ);
	steal_for(pcpu, vcpu);
}

/* The same, but accounts the whole stay to the vcpu, from the exit on. */
static inline void account_stay_to(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu->stay_vcpu = vcpu;
	pcpu->stay_cause = EXIT_IRQ;
	steal_for(pcpu, vcpu);
}

void sched_account_stay_to(struct vcpu *vcpu)
{
	struct pcpu *pcpu = this_pcpu();

	if (vcpu_home(vcpu) != pcpu)
		return;
	account_stay_to(pcpu, vcpu);
	if (pcpu->current && pcpu->current->stats.steal_since)
		pcpu_resched(pcpu); /* to end the steal time */
}

void sched_account_rest_to(struct vcpu *vcpu)
{
	CHECK(vcpu->home == this_pcpu());
	account_rest_to(this_pcpu(), vcpu);
	pcpu_resched(this_pcpu());
}

void sched_handle_ipi(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t notified = atomic_load_explicit(&pcpu->notified, memory_order_relaxed);
	struct vcpu *vcpu = notified ? pcpu->vcpus[lowest_bit(notified)] : pcpu->notified_vcpu;

	if (vcpu && vcpu_home(vcpu) == pcpu)
		account_stay_to(pcpu, vcpu);
}

void sched_serve_notified(void)
{
	struct pcpu *pcpu = this_pcpu();
	struct vcpu *whose = pcpu->stay_vcpu;
	enum vcpu_exit why = pcpu->stay_cause;
	uint64_t left;

	/* The order matters: clear the interrupt, take the mask, take the requests. A notification
	 * in between is seen the next time (docs/memory-order.md, "Mail"). */
	pcpu_ack_ipi();
	left = atomic_exchange(&pcpu->notified, 0);
	for (; left; left &= left - 1) {
		struct vcpu *vcpu = pcpu->vcpus[lowest_bit(left)];

		if (!pcpu_may_begin(pcpu)) {
			atomic_fetch_or(&pcpu->notified, left);
			csr_set(CSR_SIP, BIT(IRQ_SSI));
			break;
		}
		if (vcpu_home(vcpu) == pcpu)
			account_rest_to(pcpu, vcpu);
		vcpu_serve_notified(vcpu);
	}
	if (pcpu->current && whose && vcpu_home(whose) == pcpu)
		pcpu_account_to(pcpu, whose, why);
	pcpu_resched(pcpu);
}

void sched_end_steal(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	uint64_t taken = vcpu_steal_end(vcpu, now);

	vcpu_add_cpu_time(&vcpu->stats, -taken);
	pcpu->slice_end += taken;
	atomic_fetch_add(&pcpu->notified_vcpu->vm->debt_ticks, taken);
}

void sched_charge_debt(struct pcpu *pcpu, const struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;
	unsigned long debt = atomic_load(&vm->debt_ticks);
	uint64_t paid = debt < vcpu->slice / 2 ? debt : vcpu->slice / 2;

	/* If it fails, another hart is charging this VM, and the next time slice pays. */
	if (atomic_compare_exchange_strong(&vm->debt_ticks, &debt, debt - paid))
		pcpu->slice_end -= paid;
}
