/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of kind `sbi`. */
#ifndef GUESTS_SBI_CALLS_H
#define GUESTS_SBI_CALLS_H

#include "guests/bare/bare.h"

/* DBCN: sbi_console.c. Leaves its counters and its timer off. */
void sbi_console(void);

#endif
