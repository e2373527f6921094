/* SPDX-License-Identifier: Apache-2.0 */
/* A guest that reads OF in the hart's scountovf, where the hart hides that of counters that are not
 * open: what test_vpmu_shown*.c share. */
#ifndef TESTS_HOST_VPMU_SHOWN_H
#define TESTS_HOST_VPMU_SHOWN_H

#include "tests/host/vpmu_stub.h"
#include "vpmu/shown.h"

#define A   (1UL << 3)
#define I   (1UL << 4)
#define D   (1UL << 5)
#define B   (1UL << 18)
#define FAR 0x8000000000000001UL /* Linux starts each counting event there */

/* As the last step before the guest. */
void show_flags(void);

/* A vcpu with shows_flags, and with counters of 64 bits, or of this width. */
int shown_setup(void **state);
void shown_setup_width(uint32_t width);

/* Cycles on counter 3, started so many counts before its wrap. */
void start_cycles(uint64_t counts);
/* The same, and its overflow is taken and shown. */
void overflow_cycles(void);

/* The guest sees these OF bits, and this value of counter 3. */
void assert_shows(uint64_t flags, uint64_t cycles);

/* The vcpu leaves and comes back; neighbour: another one uses every counter meanwhile. */
void leave_and_come_back(bool neighbour);

#endif
