/* SPDX-License-Identifier: Apache-2.0 */
/* Copies from each alignment to each, and within one buffer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* Under names of its own: the sanitizers have those of the C library. */
void *own_memcpy(void *restrict to, const void *restrict from, size_t n);
void *own_memmove(void *to, const void *from, size_t n);
#define memcpy  own_memcpy
#define memmove own_memmove
#include "core/lib/copy.c"
#undef memcpy
#undef memmove

#define BYTES 256u
#define MOST  100u

static _Alignas(8) uint8_t before[BYTES], after[BYTES], wanted[BYTES];

/* Compares with a copy byte by byte through a third buffer. */
static void check(uint32_t to, uint32_t from, uint32_t n)
{
	for (uint32_t i = 0; i < BYTES; i++)
		before[i] = (uint8_t)(i * 167 + 13);
	memcpy(after, before, BYTES);
	memcpy(wanted, before, BYTES);
	for (uint32_t i = 0; i < n; i++)
		wanted[to + i] = before[from + i];
	assert_ptr_equal(own_memmove(after + to, after + from, n), after + to);
	assert_memory_equal(after, wanted, BYTES);
}

static void apart(void **state)
{
	(void)state;
	for (uint32_t to = 0; to < 8; to++) {
		for (uint32_t from = 128; from < 136; from++) {
			for (uint32_t n = 0; n <= MOST; n++) {
				check(to, from, n);
				check(from, to, n);
			}
		}
	}
}

static void within(void **state)
{
	(void)state;
	for (uint32_t to = 32; to < 72; to++) {
		for (uint32_t from = 32; from < 72; from++) {
			for (uint32_t n = 0; n <= MOST; n++)
				check(to, from, n);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(apart),
	    cmocka_unit_test(within),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
