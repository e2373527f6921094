/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's time of day: the one at which `time` was 0, plus `time`. */
#ifndef CORE_HART_TIME_OF_DAY_H
#define CORE_HART_TIME_OF_DAY_H

#include "core/lib/types.h"

#define NS_PER_S UINT64_C(1000000000)

/* Returns the time of day at a host time, in nanoseconds since 1970 (UTC); if nothing has set it,
 * since `time` was 0. Any hart. */
uint64_t time_of_day(uint64_t time);

/* Sets the time of day at a host time, for all VMs. Any hart. */
void time_of_day_set(uint64_t time, uint64_t ns);

/* Returns how many ticks `ns` nanoseconds take, rounded up, or those of 30 years if it is less. */
uint64_t time_of_day_ticks(uint64_t ns);

#endif
