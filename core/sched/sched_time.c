/* SPDX-License-Identifier: Apache-2.0 */
/* Timers: when blocked vcpus are woken, and what the hart's timer interrupt means. */
#include "arch/riscv/hart/csr.h"
#include "core/hart/check.h"
#include "core/io/external.h"
#include "core/sched/sched_parts.h"
#include "core/vcpu/guest_file.h"

/* Returns the host time at which a blocked vcpu has to be checked. */
static uint64_t next_wake(const struct vcpu *vcpu)
{
	uint64_t timer = vcpu_timer_deadline(vcpu);
	uint64_t other = vcpu_deadline(vcpu);

	return timer < other ? timer : other;
}

void sched_wake_in_time(struct vcpu *vcpu)
{
	if (vcpu_has_interrupt(vcpu)) {
		sched_set_ready(vcpu);
		return;
	}
	wake_times_set(&vcpu->home->wake, vcpu->index, next_wake(vcpu));
	if (vcpu->guest_file && vcpu->vs.vsie & BIT(IRQ_SEI))
		guest_file_listen(vcpu);
}

void sched_nap(uint64_t ticks)
{
	uint64_t now = csr_read(CSR_TIME), end = now + ticks;

	for (; now < end; now = csr_read(CSR_TIME)) {
		sched_set_host_timer(this_pcpu(), end);
		wfi();
		pcpu_ack_ipi();
	}
	/* The next stay serves the requests that came. */
	if (atomic_load(&this_pcpu()->notified))
		csr_set(CSR_SIP, BIT(IRQ_SSI));
	pcpu_resched(this_pcpu());
}

/* Without Sstc: the guest's timer has expired. */
static void timer_came(struct vcpu *vcpu)
{
	vcpu->timer = ~0UL;
	vcpu_set_virq(vcpu, IRQ_VSTI, true);
}

static void deadline_came(struct vcpu *vcpu, uint64_t now)
{
	if (vcpu->few_lcofis)
		vcpu_lcofi_release(vcpu, now);
	if (vcpu->budget.count)
		vcpu_budget_look(vcpu, now);
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

void sched_timer(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t now = csr_read(CSR_TIME);

	/* The timer has others begin the next stay at once. */
	for (uint32_t n = 0; n < VM_STAY_WAKES && wake_times_earliest(&pcpu->wake) <= now; n++) {
		struct vcpu *vcpu = pcpu->vcpus[wake_times_who(&pcpu->wake)];

		wake_times_set(&pcpu->wake, vcpu->index, ~0UL);
		if (vcpu->timer <= now)
			timer_came(vcpu);
		if (vcpu->has_deadlines)
			deadline_came(vcpu, now);
		if (vcpu->poll_at != ~0UL)
			poll(vcpu, now);
		/* It may sleep on, for instance when its LCOFI has come, and is masked. */
		if (pcpu->waiting & vcpu->bit)
			sched_wake_in_time(vcpu);
	}
	if (pcpu->current && pcpu->current->timer <= now)
		timer_came(pcpu->current);
	if (pcpu->external_at <= now)
		external_look();
	/* Also if nothing changed, because the timer must be set again. */
	pcpu_resched(pcpu);
}
