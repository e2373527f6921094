/* SPDX-License-Identifier: Apache-2.0 */
/* Seeds of guests: the RFC's numbers, and that no two are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/life/seed.h"

/* RFC 8439, section 2.3.2: the key is 0, 1, 2 ..., the block counter 1. */
#define RFC_LIFE UINT64_C(0x0900000000000001) /* the nonce's first word is the upper half */
#define RFC_VM   UINT32_C(0x4a000000)
static const uint8_t rfc_block[SEED_BYTES] = {
    0x10, 0xf1, 0xe7, 0xe4, 0xd1, 0x3b, 0x59, 0x15, 0x50, 0x0f, 0xdd, 0x1f, 0xa3, 0x20, 0x71, 0xc4,
    0xc7, 0xd1, 0xf4, 0xc7, 0x33, 0xc0, 0x68, 0x03, 0x04, 0x22, 0xaa, 0x9a, 0xc3, 0xd4, 0x6c, 0x4e,
};

static uint8_t host[64];

static int number_the_host(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(host); i++)
		host[i] = (uint8_t)i;
	return 0;
}

static void rfc_8439_vector(void **state)
{
	uint8_t seed[SEED_BYTES];

	(void)state;
	assert_true(seed_take(host, SEED_BYTES));
	seed_of_life(RFC_VM, RFC_LIFE, seed);
	assert_memory_equal(seed, rfc_block, SEED_BYTES);
}

/* 16 VMs of 64 lives, and lives beyond 32 bits. */
static void no_two_are_the_same(void **state)
{
	static uint8_t seeds[16 * 65][SEED_BYTES];
	size_t n = 0;

	(void)state;
	assert_true(seed_take(host, SEED_BYTES));
	for (uint32_t vm = 0; vm < 16; vm++) {
		for (uint64_t life = 0; life < 64; life++)
			seed_of_life(vm, life, seeds[n++]);
		seed_of_life(vm, UINT64_C(1) << 32, seeds[n++]);
	}
	for (size_t i = 0; i < n; i++) {
		assert_memory_not_equal(seeds[i], host, SEED_BYTES);
		for (size_t k = 0; k < i; k++)
			assert_memory_not_equal(seeds[i], seeds[k], SEED_BYTES);
	}
}

/* In whatever order, and whoever asks. */
static void one_life_has_one_seed(void **state)
{
	uint8_t first[SEED_BYTES], again[SEED_BYTES];

	(void)state;
	assert_true(seed_take(host, SEED_BYTES));
	seed_of_life(3, 7, first);
	seed_of_life(2, 9, again);
	seed_of_life(3, 7, again);
	assert_memory_equal(first, again, SEED_BYTES);
}

static void another_host_other_seeds(void **state)
{
	uint8_t seed[SEED_BYTES], other[SEED_BYTES];

	(void)state;
	assert_true(seed_take(host, SEED_BYTES));
	seed_of_life(0, 0, seed);
	host[SEED_BYTES - 1] ^= 1;
	assert_true(seed_take(host, SEED_BYTES));
	seed_of_life(0, 0, other);
	assert_memory_not_equal(seed, other, SEED_BYTES);
}

static void hosts_of_all_lengths(void **state)
{
	uint8_t seed[SEED_BYTES], longer[SEED_BYTES];

	(void)state;
	assert_false(seed_take(NULL, 0));
	assert_false(seed_is_there());
	for (size_t size = 0; size < SEED_BYTES; size++) {
		assert_false(seed_take(host, size));
		assert_false(seed_is_there());
	}
	assert_true(seed_take(host, SEED_BYTES));
	assert_true(seed_is_there());
	seed_of_life(0, 0, seed);
	assert_true(seed_take(host, sizeof(host)));
	seed_of_life(0, 0, longer);
	assert_memory_equal(seed, longer, SEED_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(rfc_8439_vector, number_the_host),
	    cmocka_unit_test_setup(no_two_are_the_same, number_the_host),
	    cmocka_unit_test_setup(one_life_has_one_seed, number_the_host),
	    cmocka_unit_test_setup(another_host_other_seeds, number_the_host),
	    cmocka_unit_test_setup(hosts_of_all_lengths, number_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
