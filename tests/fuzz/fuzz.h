/* SPDX-License-Identifier: Apache-2.0 */
/* What coverage-guided fuzzers call, and replay_main.c; one fuzz_*.c a program defines it. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* data: 8-byte aligned, as malloc() gives it. Ends the process if a promise is broken, else 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
