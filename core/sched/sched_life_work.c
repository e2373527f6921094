/* SPDX-License-Identifier: Apache-2.0 */
/* Time slices that prepare a VM's next life (TURN_WORK). */
#include "arch/riscv/hart/csr.h"
#include "core/sched/port.h"
#include "core/sched/run_state.h"
#include "core/vcpu/stay.h"
#include "core/sched/sched_parts.h"
#include "core/tree/vm_stay.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

bool sched_has_life_work(const struct vcpu *vcpu)
{
	return vcpu->run.turns & TURN_WORK;
}

/* Begins the steal time of all other vcpus that have a guest to run. */
static void others_wait(const struct pcpu *pcpu, const struct vcpu *vcpu)
{
	uint64_t now = csr_read(CSR_TIME);
	uint32_t i;

	for_each_bit (i, pcpu->ready & ~vcpu->bit) {
		if (!sched_has_life_work(pcpu->vcpus[i]))
			vcpu_steal_begin(pcpu->vcpus[i], now);
	}
}

static void step(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu_account_to(pcpu, vcpu, EXIT_LOADING);
	if (vm_life_work(vcpu->vm))
		return;
	vcpu_turn_over(vcpu, TURN_WORK);
	vcpu_wake_at(vcpu, ~0UL);
	sched_enable_requests(vcpu);
}

/* Begins a stay, which serves what is pending. Returns whether there was anything. */
static inline bool next_stay(struct pcpu *pcpu)
{
	sched_set_timer(pcpu, NULL);
	return sched_next_stay(pcpu);
}

/* A step begins only in a stay that has served nothing, because both together might be too long.
 * But interrupts without an end do not postpone it for ever: after LOOKS stays one will do that has
 * served little, and after MORE_LOOKS any. So many come only where instret counts wrong, and does
 * not show the length of a stay: what takes longer comes after a pause, or with typed bytes. */
#define LOOKS      8U
#define MORE_LOOKS 64U
#define LITTLE     (VM_STAY_SHORT / 2)

/* The stay has served something. Not inlined, because that is rare. */
static __attribute__((noinline)) void look_again(struct pcpu *pcpu, const struct vcpu *vcpu)
{
	uint32_t n = 1;

	do { /* WAITS */
		/* Only what has been served makes others ready. */
		others_wait(pcpu, vcpu);
		/* Then there is no other step, and the timer is pending all the time. */
		if (csr_read(CSR_TIME) >= pcpu->slice_end)
			return;
		if (n >= LOOKS && csr_read(CSR_INSTRET) - pcpu->last_irq_check < LITTLE)
			return;
	} while (n++ < MORE_LOOKS && next_stay(pcpu));
}

void sched_do_life_work(struct pcpu *pcpu, struct vcpu *vcpu)
{
	requests_disable(&vcpu->requests);
	pcpu->last = vcpu->bit;
	pcpu->slice_end = csr_read(CSR_TIME) + vcpu->slice;
	others_wait(pcpu, vcpu);
	/* This one has served an exit, or has switched. */
	if (next_stay(pcpu))
		look_again(pcpu, vcpu);
	/* Between two steps its window may end, or it may move. */
	while (pcpu->ready & vcpu->bit && sched_has_life_work(vcpu)) { /* WAITS */
		step(pcpu, vcpu);
		if (next_stay(pcpu))
			look_again(pcpu, vcpu);
		if (csr_read(CSR_TIME) >= pcpu->slice_end)
			break;
	}
}
