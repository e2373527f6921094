/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of single results. Each wrong one prints a line, and the last line says how many there
 * were. */
#ifndef GUESTS_CHECK_H
#define GUESTS_CHECK_H

#include <stdint.h>

#include "guests/lib/sbi.h"

void check(const char *what, uint64_t got, uint64_t wanted);

/* Check an SBI error, and a value. */
void check_error(const char *what, struct sbiret got, long wanted);
void check_value(const char *what, struct sbiret got, uint64_t wanted);

/* Prints "KIND: ends, N checks, N failed". Returns the result for guest_main(). */
int check_end(const char *kind);

#endif
