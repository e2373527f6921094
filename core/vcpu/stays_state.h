/* SPDX-License-Identifier: Apache-2.0 */
/* Part of struct vcpu: core/watch/stays.h. */
#ifndef CORE_VCPU_STAYS_STATE_H
#define CORE_VCPU_STAYS_STATE_H

#include "core/lib/types.h"

/* Part of struct vcpu. Private to the home hart, except `longest`, which other harts read. */
struct vcpu_stays {
	uint64_t longest; /* stands for ctx.hs_longest while that is 0 */
	uint64_t hvip;    /* value when the vcpu left the hart */
	uint32_t users;   /* users of the records: STAYS_FOR_* */
};
enum { STAYS_FOR_TRACE = 1, STAYS_FOR_ACCOUNT = 2 };

#endif
