/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vs_interrupts.h"

/* Whether one more may be raised in this window, or in a new one if this one is over. */
static bool may_come(struct vcpu_lcofi *l, uint64_t now)
{
	if (now >= l->window_end) {
		l->window_end = now + platform.timebase / (1000 / LCOFI_WINDOW_MS);
		l->left = l->limit;
	}
	if (!l->left)
		return false;
	l->left--;
	l->held = false;
	return true;
}

static void come(struct vcpu *vcpu)
{
	vcpu->stats.lcofis++;
	vcpu_set_virq(vcpu, IRQ_LCOFI, true);
	/* If the vcpu is not resident, this is done when it is loaded. */
	if (vcpu_is_current(vcpu))
		vs_interrupts_settle();
}

void vcpu_lcofi_limited(struct vcpu *vcpu)
{
	struct vcpu_lcofi *l = &vcpu->lcofi;

	if (may_come(l, csr_read(CSR_TIME))) {
		come(vcpu);
	} else if (!l->held) {
		l->held = true;
		l->held_back++;
		vcpu_set_wake(vcpu);
		/* Sets the hart's timer. */
		pcpu_resched(vcpu->home);
	}
}

void vcpu_lcofi_release(struct vcpu *vcpu, uint64_t now)
{
	struct vcpu_lcofi *l = &vcpu->lcofi;

	if (!l->held)
		return;
	if (now < l->window_end) {
		vcpu_set_wake(vcpu);
		return;
	}
	l->held = false;
	if (vpmu_scountovf(&vcpu->pmu) && may_come(l, now))
		come(vcpu);
}
