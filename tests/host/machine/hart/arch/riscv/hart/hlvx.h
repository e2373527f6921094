/* SPDX-License-Identifier: Apache-2.0 */
/* The machine knows which instruction its guest executes. */
#ifndef MACHINE_HLVX_H
#define MACHINE_HLVX_H

#include <stdint.h>

/* Changes nothing where the fetch traps. */
uint64_t machine_fetch(uint64_t address, uint64_t value, int bytes);

#define HLVX(width, value, address)                                                                \
	((value) = machine_fetch(address, value, (width)[0] == 'w' ? 4 : 2))

#endif
