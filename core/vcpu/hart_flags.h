/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guests that read the hart's own scountovf. Without Ssccfg nothing makes that read trap, so Tally
 * keeps the OF bits that the guest sees equal to those of its own counters (core/pmu/vm_overflow.h
 * says for which VMs).
 *
 * Sscofpmf lets VS see only the bits of those counters that hcounteren opens. On a hart that does
 * (hpm.flags_hidden) vpmu/shown.h does the work, and it is due only where the guest may see another
 * bit than before: after its calls that configure, and some that start or stop, when it comes to
 * the hart with an overflow, and when one is found. On others the vcpu has its hart to itself, and
 * all bits are compared before each entry (arch/riscv/counters/hpm_flags.c).
 *
 * OF of a counter that others have used meanwhile takes thousands of instructions of the firmware.
 * So each is made in a stay of its own, as a slice of a long call (core/vcpu/long_call.h): of the
 * one that the vcpu is in, or of one more.
 *
 * All functions are called on the home hart.
 */
#ifndef CORE_VCPU_HART_FLAGS_H
#define CORE_VCPU_HART_FLAGS_H

#include "arch/riscv/hart/csr.h"
#include "core/vcpu/vcpu.h"
#include "vpmu/shown.h"

/* Prepares the hart for a vcpu with hart_flags that is being started. */
void hart_flags_begin(struct vcpu *vcpu);

/* Shows the resident vcpu, which has hart_flags, its OF bits, or begins slices that do. make: this
 * stay may make the first. In a call of the guest it may not: a refusal of the firmware would seem
 * to be that of the guest's own counter (core/vcpu/hpm_failures.h). */
void hart_flags_show(struct vcpu *vcpu, bool make);
void hart_flags_show_all(struct vcpu *vcpu);

/* Does the same after a call that configured, if that is simple. Returns whether it was. */
static inline bool hart_flags_show_none(struct vcpu *vcpu)
{
	bool closed;

	if (!vpmu_shows_none(&vcpu->pmu, csr_read(CSR_SCOUNTOVF), &closed))
		return false;
	/* A configuration drops OF. */
	vcpu->home->hpm.shown = 0;
	if (closed)
		vcpu->flags_in_calls = true;
	return true;
}

/* The slice that makes the next OF of a vcpu. */
bool hart_flags_slice(struct vcpu *vcpu);

/* If the vcpu has no other long call, but OF bits that have to be made, it has one to make them.
 * Called when flags are due, and at the end of each other one. */
static inline void hart_flags_begin_slices(struct vcpu *vcpu)
{
	if (!vcpu->call.slice && vcpu->flags_due && vcpu->home->hpm.flags_hidden &&
	    vpmu_misses_flags(&vcpu->pmu))
		vcpu->call.slice = hart_flags_slice;
}

/* Restores the counters of a vcpu that comes to this hart. */
static inline void hart_flags_load(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu->hpm.shown = vcpu->hart_flags ? vpmu_scountovf(&vcpu->pmu) : 0;
	vpmu_restore(&vcpu->pmu);
	if (pcpu->hpm.shown) {
		vcpu->flags_due = vcpu->flags_in_calls = true;
		hart_flags_begin_slices(vcpu);
	}
}

/* An overflow of the resident vcpu, which has hart_flags, was found. If it does not see its OF yet,
 * the exit takes the way by hart_flags_settle(). */
void hart_flags_raised(struct vcpu *vcpu);

/* Must be called before each entry to the guest. vcpu is resident, and not in a long call: at most
 * what was found since then is still to be made. */
static inline void hart_flags_settle(struct vcpu *vcpu)
{
	if (__builtin_expect(vcpu->flags_due, 0))
		hart_flags_show_all(vcpu);
}

#endif
