/* SPDX-License-Identifier: Apache-2.0 */
/* Boot's reading of the host's tree, for tests of several files. */
#ifndef TESTS_HOST_HOST_DT_H
#define TESTS_HOST_HOST_DT_H

#include <stdint.h>
#include <string.h>

#include "arch/riscv/hart/isa.h"

/* The bits of an extension that has no name in enum isa_ext. */
static inline uint64_t isa_named(const char *name)
{
	return isa_bits(name, strlen(name));
}

/* Tally is at `at`, and starts on a hart, with the tree in `board`. Returns what it refuses the
 * machine for, or "". */
const char *start(uint64_t at, uint64_t hart);

/* Why the i-th hart of the tree cannot run guests, or NULL. */
const char *unusable(uint32_t i);

/* test_host_boards.c: the number of failed tests. */
int test_host_boards(void);

#endif
