/* SPDX-License-Identifier: Apache-2.0 */
/* A blob for the VM tree's parser. */
#ifndef TESTS_FUZZ_VM_CONFIG_H
#define TESTS_FUZZ_VM_CONFIG_H

#include <stddef.h>
#include <stdint.h>

/*
 * The entry for coverage-guided fuzzers. data is 8-byte aligned, as malloc() returns it. Fails by
 * cmocka's assertions if a result breaks a promise. Returns 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
