/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What OpenSBI's PMU code answers on a combining hart (tests/host/combining_hart.h), from the
 * `riscv,pmu` node that it was given. It is sbi_call() of the host tests. It shows the hart's
 * flags and pending bit in the CSRs that HS reads.
 */
#ifndef TESTS_HOST_OPENSBI_PMU_H
#define TESTS_HOST_OPENSBI_PMU_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/host/combining_hart.h"

/* riscv,event-to-mhpmcounters and riscv,event-to-mhpmevent, an event each. */
struct opensbi_event {
	uint32_t event_idx;
	uint32_t counters;
	uint64_t selector;
};

/* riscv,raw-event-to-mhpmcounters: a raw event whose bits under the mask are those of value. */
struct opensbi_raw {
	uint64_t value, mask;
	uint32_t counters;
};

struct opensbi_node {
	const struct opensbi_event *events;
	unsigned int n_events;
	const struct opensbi_raw *raws;
	unsigned int n_raws;
};

/* A boot: all counters stopped and free. raw_v2: SBI 3.0, as of version 1.9: raw events have 56
 * bits, and 48 before. The node stays the caller's. */
void opensbi_boot(const struct opensbi_node *node, bool raw_v2);

/* A cycle of the hart. The LCOFI that comes to pend is seen in sip. */
void opensbi_step(const struct combining_cycle *cycle);

#endif
