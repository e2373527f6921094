/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rate limit of a vcpu's virtual LCOFIs: the VM's pmu-overflow-limit.
 *
 * A window begins with the first LCOFI after the end of the last window. When the limit is reached,
 * the next LCOFI is held until the window ends: OF, count and scountovf are as without a limit,
 * only hvip.LCOFIP stays 0. The held LCOFI also stands for later overflows. While one is held, the
 * vcpu's entry in pcpu->wake is the end of the window, or an earlier time.
 */
#ifndef CORE_VCPU_VCPU_LCOFI_H
#define CORE_VCPU_VCPU_LCOFI_H

#include "core/lib/types.h"

struct vcpu;

#define LCOFI_WINDOW_MS 10U

/* Private to the home hart. */
struct vcpu_lcofi {
	uint32_t limit;      /* LCOFIs per window; 0: no limit. Constant */
	uint32_t left;       /* LCOFIs left in this window */
	bool held;           /* one is held until the window ends */
	uint64_t window_end; /* host time */
	uint64_t held_back;  /* number of LCOFIs held so far */
};

/* Raises an LCOFI in a resident vcpu that has a limit, or holds the LCOFI. */
void vcpu_lcofi_limited(struct vcpu *vcpu);

/*
 * Raises the held LCOFI, if any, if its window is over; otherwise sets the wake time again. Drops
 * it if the guest has cleared all OF bits meanwhile, because there is nothing left to report. Home
 * hart only; the vcpu need not be resident.
 */
void vcpu_lcofi_release(struct vcpu *vcpu, uint64_t now);

#endif
