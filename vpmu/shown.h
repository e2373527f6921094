/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that reads those OF bits of the hart whose counters it may read directly
 * (vpmu_policy.shows_flags).
 */
#ifndef VPMU_SHOWN_H
#define VPMU_SHOWN_H

#include "vpmu/state.h"

/*
 * Makes the guest see its own OF bits and no others: closes counters whose OF is 1 in the hart and
 * 0 in the guest, and opens those of the guest whose OF is 1, with their values, where the hart's
 * OF is 1 or can be made 1. Called before the guest goes on. A counter that the hart refuses is
 * told by vpmu_failed(). Making one takes some 3,000 instructions with the firmware's.
 */
void vpmu_show_flags(struct vpmu *v);

#endif
