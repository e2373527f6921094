/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of this guest share. */
#ifndef NETCHECK_H
#define NETCHECK_H

#include "guests/netcheck/nic.h"

/* Each prints one line and counts it. A failure of report_eq() prints both values as well. */
void report(bool ok, const char *section, const char *name);
void report_eq(uint64_t got, uint64_t want, const char *section, const char *name);
void report_skip(const char *section, const char *name, const char *why);
/* Prints the summary. Returns whether nothing failed. */
bool report_end(void);

/* The parts, in the order of execution. */
void check_space(struct nic *n);
void check_structures(struct nic *n);
void check_window(struct nic *n);
void check_reset(struct nic *n);
void check_features(struct nic *n);
void check_queue_registers(struct nic *n);
void check_config(struct nic *n);
void check_frames(struct nic *n);
void check_chains(struct nic *n);
void check_indirect(struct nic *n);
void check_interrupts(struct nic *n);
void check_events(struct nic *n);
void check_broken(struct nic *n);
void check_resets(struct nic *n);
void check_wraps(struct nic *n);
void check_link(struct nic *n);
/* With bootarg messages=1, instead of all of these: by an IMSIC, which messages_open() sets up. */
void messages_open(void);
void check_messages(struct nic *n);
void check_link_messages(struct nic *n);

/* Sends so many frames to nobody by one notification, and takes their buffers back. */
bool send_away(struct nic *n, uint32_t frames);
/* Waits for a change of the link, which the test makes, for half a second. */
bool await_link(const struct nic *n, uint32_t status);

#endif
