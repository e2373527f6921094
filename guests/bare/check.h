/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of one answer each: a line for each that is wrong, and a last one with how many there
 * were. */
#ifndef GUESTS_CHECK_H
#define GUESTS_CHECK_H

#include <stdint.h>

#include "guests/lib/sbi.h"

void check(const char *what, uint64_t got, uint64_t wanted);

/* An SBI error, a value. */
void check_error(const char *what, struct sbiret got, long wanted);
void check_value(const char *what, struct sbiret got, uint64_t wanted);

/* Prints "KIND: ends, N checks, N failed"; what guest_main() returns. */
int check_end(const char *kind);

#endif
