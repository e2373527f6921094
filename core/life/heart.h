/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heartbeats: a VM with heartbeat-ms has failed if its guest does not ring in time. Time is the
 * host's, from the begin of the life or the last ring on, whether or not the VM had a hart
 * meanwhile. A ring stores the time and nothing else. The lead hart's timer looks when the time
 * that it knows of would be over, and if the guest has rung since, looks again at the new end.
 */
#ifndef CORE_LIFE_HEART_H
#define CORE_LIFE_HEART_H

#include "core/lib/types.h"

struct vm;

/* A life begins at that host time. Before the VM runs; lead hart, or boot hart. */
void heart_begin(struct vm *vm, uint64_t now);

/* The time that was given to external_look_at() has come. */
void heart_look(void);

#endif
