/* SPDX-License-Identifier: Apache-2.0 */
/* When a hart looks at what does not interrupt it. */
#ifndef CORE_HART_LOOKS_H
#define CORE_HART_LOOKS_H

#include "core/hart/pcpu.h"

/* The calling hart looks at that time, in host time, at what may not interrupt, for guests that
 * have to ring, or for the next window; ~0: not at all. */
void external_look_at(enum external_what what, uint64_t time);

/* The same for another hart. Boot hart only, before that one looks at anything. */
void external_look_begins(struct pcpu *pcpu, enum external_what what, uint64_t time);

#endif
