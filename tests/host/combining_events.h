/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a hart like Kunminghu, from its event table and its manual alone: which there are,
 * and how often each one, or a combination, happens in a guest's work. Neither vpmu/ nor the model
 * of the hart is used.
 */
#ifndef TESTS_HOST_COMBINING_EVENTS_H
#define TESTS_HOST_COMBINING_EVENTS_H

#include "tests/host/chance.h"
#include "tests/host/opensbi_pmu.h"
#include "vpmu/selector.h"

/* The work of a guest: it goes through these cycles, from any one on, and begins again. */
#define COMBINING_PERIOD 61U
extern struct combining_cycle combining_cycles[COMBINING_PERIOD];

#define COMBINING_EVENTS 346U
/* The selector of an event alone. */
uint64_t combining_single(uint32_t n);
/* Any combination of events of one group, with any operators. */
uint64_t combining_any(struct chance *c);
/* Returns the number of an event (above) from the selector of that event alone, or another number.
 */
uint32_t combining_hctrs(uint64_t selector);

/* What a VM tree's node /pmu and OpenSBI's node say of this core. The former is valid from
 * combining_events_begin() on, and narrower with fake.config.narrow. */
const struct selectors *combining_selectors(void);
extern const struct opensbi_node combining_node;

/* Fills combining_cycles, and makes the table for fake.config. */
void combining_events_begin(void);

#endif
