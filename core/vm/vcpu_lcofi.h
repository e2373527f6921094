/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vcpu's virtual LCOFIs, and how many of them may come: the VM's pmu-overflow-limit.
 *
 * A window begins with the first one after the last window's end. When as many as the limit says
 * have come, the next one is held back until the window ends: OF, count and scountovf are as they
 * would be, only hvip.LCOFIP waits. Overflows that follow are told by the one that is held. While
 * one is, the vcpu's place in pcpu->wake holds the window's end, or what comes before it.
 */
#ifndef CORE_VM_VCPU_LCOFI_H
#define CORE_VM_VCPU_LCOFI_H

#include "core/lib/types.h"

struct vcpu;

#define LCOFI_WINDOW_MS 10U

/* Private to the home hart. */
struct vcpu_lcofi {
	uint32_t limit;      /* LCOFIs a window; 0: no limit. Constant */
	uint32_t left;       /* of the limit, in this window */
	bool held;           /* one waits for the window's end */
	uint64_t window_end; /* host time */
	uint64_t held_back;  /* how often one was */
};

/* Makes one pending in a resident vcpu that has a limit, or holds it back. */
void vcpu_lcofi_limited(struct vcpu *vcpu);

/*
 * The one that is held, if any, comes now if its window is over, else its time is noted again. Not
 * where the guest, who may look at the flags meanwhile, has seen to all overflows itself. Resident
 * or not; home hart only.
 */
void vcpu_lcofi_release(struct vcpu *vcpu, uint64_t now);

#endif
