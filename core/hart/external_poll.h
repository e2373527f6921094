/* SPDX-License-Identifier: Apache-2.0 */
/* The times at which a hart polls for work that does not interrupt it. */
#ifndef CORE_HART_EXTERNAL_POLL_H
#define CORE_HART_EXTERNAL_POLL_H

#include "core/hart/pcpu.h"

/* The calling hart polls `what` at this host time: sources that may not interrupt, guests that have
 * to ring, the next window, or counters that all harts read then. ~0: never. */
void external_poll_at(enum external_kind what, uint64_t time);

/* The same for another hart. Boot hart only, before that hart polls anything. */
void external_poll_init(struct pcpu *pcpu, enum external_kind what, uint64_t time);

#endif
