/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OF bits for guests that read the hart's own scountovf. Without Ssccfg that read cannot trap, so
 * Tally keeps the OF bits that the guest sees equal to those of its own counters
 * (core/pmu/vm_pmu.h says for which VMs).
 *
 * Sscofpmf shows VS only the bits of counters that hcounteren opens. On a hart that obeys this
 * (hpm.flags_hidden), vpmu/shown.h does the work, only when a bit that the guest may see has
 * changed: after calls that configure and some that start or stop, when the vcpu is loaded with an
 * overflow, and when one is found. On other harts the vcpu has its hart to itself, and all bits are
 * compared before each entry (hart_flags.c).
 *
 * Restoring OF of a counter that others have used since takes thousands of instructions of the
 * firmware. So each is done in a stay of its own, as a slice of a long call
 * (core/vcpu/long_call.h): of the one in progress, or of an additional one.
 *
 * All functions are called on the home hart.
 */
#ifndef CORE_VCPU_HART_FLAGS_H
#define CORE_VCPU_HART_FLAGS_H

#include "arch/riscv/hart/csr.h"
#include "core/vcpu/vcpu.h"
#include "vpmu/shown.h"

/* Makes scountovf show the OF bits of the resident vcpu, which has hart_flags, or begins slices
 * that do. may_set: this stay may set one OF bit of the hart. Must be false in a call of the guest,
 * where a refusal of the firmware would look like one of the guest's own counter
 * (core/vcpu/hpm_failures.h). hart_flags_show_all() sets all bits in this stay. */
void hart_flags_show(struct vcpu *vcpu, bool may_set);
void hart_flags_show_all(struct vcpu *vcpu);

/* Does the same after a configuring call, if no counter of the guest has OF = 1. Returns false
 * otherwise. */
static inline bool hart_flags_show_if_clear(struct vcpu *vcpu)
{
	bool closed;

	if (!vpmu_show_flags_if_clear(&vcpu->pmu, csr_read(CSR_SCOUNTOVF), &closed))
		return false;
	/* Configuring a counter clears its OF. */
	vcpu->home->hpm.shown = 0;
	if (closed)
		vcpu->flags_in_calls = true;
	return true;
}

/* The slice that sets the next missing OF bit. Returns whether another slice is needed. */
bool hart_flags_slice(struct vcpu *vcpu);

/* Begins a long call that sets the missing OF bits, unless the vcpu has another long call. Called
 * when flags are due, and at the end of each other long call. */
static inline void hart_flags_begin_slices(struct vcpu *vcpu)
{
	if (!vcpu->call.slice && vcpu->flags_due && vcpu->home->hpm.flags_hidden &&
	    vpmu_has_missing_flags(&vcpu->pmu))
		vcpu->call.slice = hart_flags_slice;
}

/* Restores the counters of a vcpu that is being loaded. */
static inline void hart_flags_load(struct pcpu *pcpu, struct vcpu *vcpu)
{
	pcpu->hpm.shown = vcpu->hart_flags ? vpmu_scountovf(&vcpu->pmu) : 0;
	vpmu_restore(&vcpu->pmu);
	if (pcpu->hpm.shown) {
		vcpu->flags_due = vcpu->flags_in_calls = true;
		hart_flags_begin_slices(vcpu);
	}
}

/* An overflow of the resident vcpu, which has hart_flags, was found. If the vcpu does not see its
 * OF yet, the exit goes through hart_flags_settle(). */
void hart_flags_handle_overflow(struct vcpu *vcpu);

/* Must be called before each entry to the guest. The vcpu is resident. Its long call, if it had
 * one, has ended, so only bits of overflows that were found afterwards can be missing. */
static inline void hart_flags_settle(struct vcpu *vcpu)
{
	if (__builtin_expect(vcpu->flags_due, 0))
		hart_flags_show_all(vcpu);
}

#endif
