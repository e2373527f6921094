/* SPDX-License-Identifier: Apache-2.0 */
/* The entry for coverage-guided fuzzers and replay_main.c. Each program has one fuzz_*.c that
 * defines it. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* data is 8-byte aligned, as malloc() returns it. Returns 0, or ends the process if a promise is
 * broken. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the process, and says which promise is broken. */
#define require(claim)                                                                             \
	do {                                                                                       \
		if (!(claim)) {                                                                    \
			fprintf(stderr, "differs: %s:%d: %s\n", __FILE__, __LINE__, #claim);       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
