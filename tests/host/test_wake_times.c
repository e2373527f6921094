/* SPDX-License-Identifier: Apache-2.0 */
/* The tournament of wake-up times, against a plain search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/hart/wake_times.h"

#define NEVER UINT64_MAX

static struct wake_times wake;

static void nobody_sleeps(void **state)
{
	(void)state;
	wake_times_init(&wake);
	assert_true(wake_times_earliest(&wake) == NEVER);
	wake_times_set(&wake, 63, NEVER);
	assert_true(wake_times_earliest(&wake) == NEVER);
}

static void one_sleeps(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < WAKE_LEAVES; i++) {
		wake_times_init(&wake);
		wake_times_set(&wake, i, 7);
		assert_true(wake_times_earliest(&wake) == 7);
		assert_int_equal(wake_times_who(&wake), i);
		wake_times_set(&wake, i, 0);
		assert_true(wake_times_earliest(&wake) == 0);
		wake_times_set(&wake, i, NEVER);
		assert_true(wake_times_earliest(&wake) == NEVER);
	}
}

/* Few different times, so that equal ones and NEVER are common. */
static void many_sleep(void **state)
{
	uint64_t plain[WAKE_LEAVES];

	(void)state;
	srand(1);
	wake_times_init(&wake);
	for (uint32_t i = 0; i < WAKE_LEAVES; i++)
		plain[i] = NEVER;
	for (int step = 0; step < 200000; step++) {
		uint32_t i = (uint32_t)rand() % WAKE_LEAVES;
		uint64_t at = rand() % 3 ? (uint64_t)rand() % 100 : NEVER, earliest = NEVER;

		plain[i] = at;
		wake_times_set(&wake, i, at);
		for (uint32_t k = 0; k < WAKE_LEAVES; k++)
			earliest = plain[k] < earliest ? plain[k] : earliest;
		assert_true(wake_times_earliest(&wake) == earliest);
		if (earliest != NEVER)
			assert_true(plain[wake_times_who(&wake)] == earliest);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nobody_sleeps),
	    cmocka_unit_test(one_sleeps),
	    cmocka_unit_test(many_sleep),
	};

	return cmocka_run_group_tests_name("wake_times", tests, NULL, NULL);
}
