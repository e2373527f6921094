/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks for the events that a debugger writes into its memory, and starts their counters. It calls a
 * RET at STOP_AT, where the debugger has a breakpoint, with the address of what they share in a0:
 * there the answers can be read, and what the hart's registers hold. Then it resets these counters
 * and asks for the next events; none: it ends. tests/qemu/pmu/readback.py is the other side.
 *
 * STOP_AT is an address at which neither Tally nor the firmware has code. Debuggers do not tell the
 * guest's addresses from theirs.
 */
#include "guests/bare/bare.h"

#define STOP_AT  0x80a00000UL
#define RET      0x00008067U
#define REQUESTS 128U

/* The debugger knows this layout. */
struct request {
	uint64_t event_idx, event_data, flags;
	uint64_t counters;      /* that it may be */
	int64_t error, counter; /* of counter_config_matching */
	int64_t started;        /* of counter_start */
};

static struct {
	uint64_t n, initial_value;
	struct request requests[REQUESTS];
} shared __attribute__((aligned(8)));

static void stop(void)
{
	void (*at)(void *) = (void (*)(void *))STOP_AT;

	at(&shared);
	__asm__ volatile("" ::: "memory");
}

/* Returns whether a counter runs. */
static bool ask(struct request *r)
{
	struct sbiret ret = sbi_pmu(SBI_PMU_COUNTER_CONFIG_MATCHING, 0, r->counters, r->flags,
	                            r->event_idx, r->event_data);

	r->error = ret.error;
	r->counter = ret.value;
	if (ret.error)
		return false;
	r->started = pmu_start(BIT(ret.value), shared.initial_value);
	return true;
}

int readback(uint64_t hartid)
{
	uint64_t given = 0, refused = 0;

	(void)hartid;
	*(volatile uint32_t *)STOP_AT = RET;
	__asm__ volatile("fence.i" ::: "memory");
	stop();
	while (shared.n) {
		uint64_t used = 0;

		for (uint64_t i = 0; i < shared.n && i < REQUESTS; i++) {
			if (ask(&shared.requests[i])) {
				used |= BIT(shared.requests[i].counter);
				given++;
			} else {
				refused++;
			}
		}
		stop();
		pmu_reset(used);
	}
	print("readback: %u counters given, %u requests refused\n", given, refused);
	return 0;
}
