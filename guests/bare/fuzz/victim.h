/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of kind `victim`. */
#ifndef GUESTS_VICTIM_H
#define GUESTS_VICTIM_H

#include "guests/bare/bare.h"

/* Prints what was found, and that it is wrong. */
void victim_wrong(const char *what, uint64_t got, uint64_t wanted);

/* victim_counts.c: each prints what it counted. */
void victim_counts(uint64_t hw, uint64_t round);
void victim_firmware_counts(uint64_t fw, uint64_t round);

/* victim.S: loads x1 to x30, spins so often, and stores them. Interrupts are off, and no trap can
 * come. */
void victim_spin(const uint64_t *x, uint64_t *found, uint64_t spins);

#endif
