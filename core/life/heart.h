/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heartbeats: a VM with heartbeat-ms has failed if its guest does not ring in time. Time is the
 * host's, since the beginning of the life or the last ring, whether or not the VM had a hart
 * meanwhile. A ring stores the time and nothing else. The lead hart's timer checks at the deadline
 * that it knows of; if the guest has rung since, it sets the new deadline.
 */
#ifndef CORE_LIFE_HEART_H
#define CORE_LIFE_HEART_H

/* Checks the deadlines, and those of shutdowns (core/life/shutdown.h), at the time that
 * external_poll_at() was given. */
void heart_poll(void);

#endif
