/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core/vcpu/requests.h: all orders of the steps of a hart that makes a request and of a home that
 * enables more requests. In each order, a request that is enabled in the end was seen by the home
 * or notified, and one that is not enabled interrupts nobody.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/vcpu/requests.h"

static struct requests r;

static void is_off_at_first(void **state)
{
	(void)state;
	requests_init(&r);
	assert_true(requests_make(&r, REQ_START));
	assert_false(requests_make(&r, REQ_IPI));
	assert_true(requests_make(&r, REQ_STOP));
	assert_int_equal(requests_take(&r, REQ_ALL), REQ_START | REQ_IPI | REQ_STOP);
	assert_int_equal(requests_take(&r, REQ_ALL), 0);
}

static void what_pends_is_not_asked_again(void **state)
{
	(void)state;
	requests_init(&r);
	assert_int_equal(requests_enable(&r, REQ_ALL), 0);
	assert_true(requests_make(&r, REQ_IPI));
	for (int i = 0; i < 100; i++)
		assert_false(requests_make(&r, REQ_IPI));
	/* Another request is new. */
	assert_true(requests_make(&r, REQ_IPI | REQ_FENCE_I));
	assert_int_equal(requests_take(&r, REQ_IPI), REQ_IPI);
	assert_true(requests_make(&r, REQ_IPI));
	assert_int_equal(requests_take(&r, REQ_ALL), REQ_IPI | REQ_FENCE_I);
}

static void who_is_not_resident_is_told_in_its_turn(void **state)
{
	(void)state;
	requests_init(&r);
	requests_disable(&r);
	assert_false(requests_make(&r, REQ_IPI | REQ_FENCES | REQ_DEVICES | REQ_STOP));
	assert_false(requests_are_pending(&r, REQ_FENCES));
	for (uint64_t what = 1; what <= REQ_ALL; what <<= 1) {
		if (what & REQ_AT_ONCE)
			assert_true(requests_make(&r, what));
	}
	/* Its time slice: it sees all pending requests. */
	assert_int_equal(requests_enable(&r, REQ_ALL), REQ_ALL & ~REQ_START);
	assert_true(requests_are_pending(&r, REQ_FENCE_I));
	assert_int_equal(requests_take(&r, REQ_FENCES), REQ_FENCES);
	assert_false(requests_are_pending(&r, REQ_FENCE_I));
}

/* A blocked vcpu enables IPIs, and another one sends an IPI: two steps each, in all six orders. */
static void none_is_lost(void **state)
{
	(void)state;
	for (unsigned int order = 0; order < 16; order++) {
		unsigned int asker = 0, home = 0;
		bool notified = false, seen = false, was_pending = false;

		requests_init(&r);
		requests_disable(&r);
		for (unsigned int i = 0; i < 4; i++) {
			if (order >> i & 1 ? asker == 2 : home < 2) {
				/* The steps of the home: write, then read. */
				if (home++ == 0)
					atomic_store(&r.enabled, REQ_AT_ONCE | REQ_IPI);
				else
					seen = atomic_load(&r.pending) & REQ_IPI;
			} else if (asker++ == 0) {
				was_pending = atomic_fetch_or(&r.pending, REQ_IPI) & REQ_IPI;
			} else {
				notified = !was_pending && atomic_load(&r.enabled) & REQ_IPI;
			}
		}
		assert_true(asker == 2 && home == 2);
		assert_true(notified || seen);
	}
}

static void all_that_come_are_counted(void **state)
{
	(void)state;
	requests_init(&r);
	for (int i = 0; i < 300; i++) {
		atomic_fetch_add(&r.got[REQ_GOT_VVMA], 1);
		(void)requests_make(&r, REQ_VVMA);
	}
	assert_int_equal(requests_take(&r, REQ_ALL), REQ_VVMA);
	assert_int_equal(requests_take_count(&r, REQ_GOT_VVMA), 300);
	assert_int_equal(requests_take_count(&r, REQ_GOT_VVMA), 0);
	assert_int_equal(requests_take_count(&r, REQ_GOT_VVMA_ASID), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(is_off_at_first),
	    cmocka_unit_test(what_pends_is_not_asked_again),
	    cmocka_unit_test(who_is_not_resident_is_told_in_its_turn),
	    cmocka_unit_test(none_is_lost),
	    cmocka_unit_test(all_that_come_are_counted),
	};

	return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
