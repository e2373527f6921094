/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hart/time_of_day.h"

#include <stdatomic.h>

#include "core/hart/platform.h"

#define LONGEST_NS (UINT64_C(1) << 60)

static atomic_ulong epoch; /* the time of day at which `time` was 0 */

static uint64_t ns_of(uint64_t ticks)
{
	uint64_t hz = platform.timebase;

	return ticks / hz * NS_PER_S + ticks % hz * NS_PER_S / hz;
}

uint64_t time_of_day(uint64_t time)
{
	return atomic_load_explicit(&epoch, memory_order_relaxed) + ns_of(time);
}

void time_of_day_set(uint64_t time, uint64_t ns)
{
	atomic_store_explicit(&epoch, ns - ns_of(time), memory_order_relaxed);
}

uint64_t time_of_day_ticks(uint64_t ns)
{
	uint64_t hz = platform.timebase;

	if (ns > LONGEST_NS)
		ns = LONGEST_NS;
	return ns / NS_PER_S * hz + (ns % NS_PER_S * hz + NS_PER_S - 1) / NS_PER_S;
}
