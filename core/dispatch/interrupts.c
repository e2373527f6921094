/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupts of a hart, and the work of its timer. */
#include "core/dispatch/exit.h"
#include "arch/riscv/hart/csr.h"
#include "core/io/external.h"
#include "core/io/vm_rtc.h"
#include "core/life/heart.h"
#include "core/sched/port.h"
#include "core/sched/sched.h"
#include "core/sched/vcpu_budget.h"
#include "core/sched/windows.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/vcpu.h"
#include "core/watch/observe.h"

static void external_poll(void)
{
	struct pcpu *pcpu = this_pcpu();
	const uint64_t *at = pcpu->poll_times;
	uint64_t now = csr_read(CSR_TIME);

	/* First, because other harts do it at the same time. */
	if (at[EXTERNAL_OBSERVE] <= now && pcpu_may_begin(pcpu)) {
		pcpu->stay_work |= STAY_WORK_DONE;
		observe_poll();
	}
	/* A stay serves only one of the two. */
	if (at[EXTERNAL_CONSOLE] <= now || at[EXTERNAL_DMA] <= now)
		(void)external_work(pcpu, at[EXTERNAL_CONSOLE] <= now);
	if (at[EXTERNAL_HEART] <= now)
		heart_poll();
	if (at[EXTERNAL_ALARM] <= now)
		vm_rtc_poll();
	if (at[EXTERNAL_WINDOW] <= now)
		windows_let_come(pcpu);
}

/* Without Sstc: the guest's timer has expired. */
static void timer_came(struct vcpu *vcpu)
{
	vcpu->timer = ~0UL;
	vcpu_set_virq(vcpu, IRQ_VSTI, true);
}

static void deadline_came(struct vcpu *vcpu, uint64_t now)
{
	observe_before(vcpu);
	if (vcpu->lcofi_limited)
		vcpu_lcofi_release(vcpu, now);
	if (vcpu->budget.count)
		vcpu_budget_poll(vcpu, now);
}

/* Polls a counter for the vcpu's PMU if it is time to. */
static void poll(struct vcpu *vcpu, uint64_t now)
{
	if (now < vcpu->poll_at) {
		vcpu_set_wake(vcpu);
		return;
	}
	vcpu->poll_at = ~0UL;
	vpmu_poll(&vcpu->pmu);
}

/* The time has come to wake this vcpu. */
static inline void wake_time_came(struct vcpu *vcpu, uint64_t now)
{
	/* Of a vcpu that sleeps, the next time is set when it wakes or sleeps on. */
	if (!run_state_sleeps(&vcpu->run))
		vcpu_wake_at(vcpu, ~0UL);
	if (vcpu->timer <= now) {
		if (vcpu->home->has_schedule)
			sched_steal_since_timer(vcpu);
		timer_came(vcpu);
	}
	if (vcpu->has_deadlines)
		deadline_came(vcpu, now);
	if (vcpu->poll_at != ~0UL)
		poll(vcpu, now);
	/* The vcpu may sleep on, for instance if its pending LCOFI is masked. */
	if (run_state_sleeps(&vcpu->run))
		sched_wake_in_time(vcpu);
}

static void sched_timer(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t now = csr_read(CSR_TIME);
	uint32_t most = VM_STAY_WAKES;

	if (pcpu->has_schedule && windows_switch_due(pcpu, now)) {
		/* Vcpus that leave at the end of their window are woken in the next one. */
		if (pcpu->current)
			most = 0;
		else
			windows_switch(pcpu, now);
	}
	/* Other vcpus are woken in the next stay: the timer interrupts again at once. */
	for (uint32_t n = 0; n < most && wake_times_earliest(pcpu->wake) <= now; n++)
		wake_time_came(pcpu->vcpus[wake_times_who(pcpu->wake)], now);
	if (pcpu->current && pcpu->current->timer <= now)
		timer_came(pcpu->current);
	if (pcpu->next_poll <= now)
		external_poll();
	/* Even if nothing changed, because the timer must be set again. */
	pcpu_resched(pcpu);
}

void pcpu_interrupts(struct pcpu *pcpu, uint64_t pending)
{
	/* With no vcpu resident, the LCOFI belongs to no vcpu. Otherwise the hart takes it as soon
	 * as the guest continues. */
	if (pending & BIT(IRQ_LCOFI) && !pcpu->current)
		csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	if (pending & BIT(IRQ_SSI)) {
		pcpu_ack_ipi();
		pcpu_resched(pcpu);
	}
	if (pending & BIT(IRQ_SEI))
		external_handle_irq();
	if (pending & BIT(IRQ_SGEI))
		guest_file_handle_irq();
	if (pending & BIT(IRQ_STI))
		sched_timer();
}
