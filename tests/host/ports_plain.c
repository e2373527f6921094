/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/ports_plain.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct driver plain_drivers[STATIONS];

void plain_start(uint64_t features, uint32_t buffers)
{
	instret_step = 0;
	stations_make();
	for (uint32_t i = 0; i < STATIONS; i++)
		driver_start(&plain_drivers[i], i, 0, features, buffers);
}

void plain_send(uint32_t from, const uint8_t to[6], uint32_t size)
{
	assert_true(driver_frame(&plain_drivers[from], to, size, size));
	driver_notify(&plain_drivers[from]);
}

void plain_assert_counts(uint32_t i, uint64_t sent, uint64_t refused, uint64_t received,
                         uint64_t lost)
{
	struct port_counts counts = driver_counts(&plain_drivers[i]);

	assert_int_equal(counts.sent, sent);
	assert_int_equal(counts.refused, refused);
	assert_int_equal(counts.received, received);
	assert_int_equal(counts.lost, lost);
}

void plain_assert_got(uint32_t mask, uint32_t n)
{
	for (uint32_t i = 0; i < STATIONS; i++) {
		assert_int_equal(driver_take(&plain_drivers[i]), mask >> i & 1 ? n : 0);
		assert_int_equal(plain_drivers[i].wrong, 0);
	}
}

void plain_assert_status(uint32_t i, uint32_t status)
{
	assert_int_equal(in(&plain_drivers[i], STATUS, 1), status);
}
