/* SPDX-License-Identifier: Apache-2.0 */
/* Work in the turn of the resident vcpu on behalf of another one, and who pays for it. */
#include "arch/riscv/csr.h"
#include "core/vm/check.h"
#include "core/vm/sched_parts.h"
#include "core/vm/vcpu_requests.h"
#include "core/vm/vm.h"

/*
 * The hart works on behalf of a vcpu, in the turn of the resident one. If they are not of one VM,
 * the resident one is robbed until give_back().
 */
static void work_for(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu_book(pcpu, vcpu, EXIT_IRQ);
	pcpu->told = vcpu;
	if (pcpu->current && pcpu->current->vm != vcpu->vm)
		sched_waits_its_turn(pcpu->current, csr_read(CSR_TIME));
}

void sched_mail_came(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t mail = atomic_load_explicit(&pcpu->mail, memory_order_relaxed);
	struct vcpu *vcpu = mail ? pcpu->vcpus[lowest_bit(mail)] : pcpu->told;

	if (vcpu && vcpu_home(vcpu) == pcpu) {
		/* From its beginning on. */
		pcpu->stay_of = vcpu;
		pcpu->stay_why = EXIT_IRQ;
		work_for(pcpu, vcpu);
	}
}

void sched_serve_mail(void)
{
	struct pcpu *pcpu = this_pcpu();
	struct vcpu *whose = pcpu->stay_of;
	enum vcpu_exit why = pcpu->stay_why;
	uint64_t left;

	/* First the interrupt, then the mail, then the requests: what comes in between is seen next
	 * time. */
	pcpu_heard();
	left = atomic_exchange(&pcpu->mail, 0);
	for (; left; left &= left - 1) {
		struct vcpu *vcpu = pcpu->vcpus[lowest_bit(left)];

		if (vcpu_home(vcpu) == pcpu)
			work_for(pcpu, vcpu);
		vcpu_serve_mail(vcpu);
	}
	if (pcpu->current && whose && vcpu_home(whose) == pcpu)
		pcpu_book(pcpu, whose, why);
	pcpu_resched(pcpu);
}

void sched_give_back(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	uint64_t taken = now - vcpu->fw.ready_since;

	vcpu->fw.ready_since = 0;
	vcpu->fw.steal_ticks += taken;
	vcpu->fw.resident_since += taken;
	pcpu->slice_end += taken;
	atomic_fetch_add(&pcpu->told->vm->owed_ticks, taken);
}

void sched_pay(struct pcpu *pcpu, struct vm *vm)
{
	unsigned long owed = atomic_load(&vm->owed_ticks);
	uint64_t paid = owed < pcpu->slice / 2 ? owed : pcpu->slice / 2;

	/* If another hart is about to pay, the next turn does. */
	if (atomic_compare_exchange_strong(&vm->owed_ticks, &owed, owed - paid))
		pcpu->slice_end -= paid;
}
