/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What OpenSBI's PMU code returns on a combining hart (tests/host/combining_hart.h), with a given
 * `riscv,pmu` node. It is sbi_call() of the host tests. The hart's OF bits and pending bit are in
 * the CSRs that HS reads.
 */
#ifndef TESTS_HOST_OPENSBI_PMU_H
#define TESTS_HOST_OPENSBI_PMU_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/host/combining_hart.h"

/* One event of riscv,event-to-mhpmcounters and riscv,event-to-mhpmevent. */
struct opensbi_event {
	uint32_t event_idx;
	uint32_t counters;
	uint64_t selector;
};

/* riscv,raw-event-to-mhpmcounters: raw events that equal value in the bits of the mask. */
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

/* Makes this one the active hart. What it knows, and its CSRs, are its own. */
void opensbi_select(unsigned int hart);

/* Boots the active hart: all counters are stopped and free. raw_v2: SBI 3.0, as in version 1.9, in
 * which raw events have 56 bits instead of 48. The caller keeps the node. */
void opensbi_boot(const struct opensbi_node *node, bool raw_v2);

/* Whether a start while an LCOFI is pending sets OF, as from OpenSBI 1.8 on; false after boot: it
 * keeps OF. For all harts. */
void opensbi_start_sets_flags(bool sets);

/* Whether the hart loses an overflow after a start far from the wrap with OF = 0, as QEMU's timer
 * does: ONCE until a start one count before the wrap, ALL for ever. NOTHING after boot. */
enum opensbi_loss { OPENSBI_LOSES_NOTHING, OPENSBI_LOSES_ONCE, OPENSBI_LOSES_ALL };
void opensbi_far_starts_lose(enum opensbi_loss loss);

/* Executes one cycle of the hart. sip shows an LCOFI that becomes pending. */
void opensbi_step(enum combining_mode mode, const struct combining_cycle *cycle);

#endif
