/* SPDX-License-Identifier: Apache-2.0 */
/* A hostile driver in a network with offloads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"
#include "tests/host/chance.h"
#include "tests/host/ports_large.h"

static void spoil(struct chance *c, uint32_t i)
{
	uint32_t queue = below(c, PORT_QUEUES), at = RECEIVED + below(c, BYTES - RECEIVED);
	struct large_header h = {(uint8_t)below(c, 3),
	                         (uint8_t)below(c, 6),
	                         (uint16_t)below(c, 99),
	                         1460,
	                         (uint16_t)below(c, 99),
	                         16,
	                         0};

	if (percent(c, 50)) {
		h = large_tcp;
		at = SENT;
	}
	if (percent(c, 40)) {
		memcpy(large_memory(i, SENT), &h, sizeof(h));
		memcpy(large_memory(i, SENT + HEADER), macs[percent(c, 50) ? 2 : 0], 6);
		memcpy(large_memory(i, SENT + HEADER + 6), macs[i], 6);
	}
	driver_describe(
	    &large_drivers[i], queue, below(c, ENTRIES),
	    percent(c, 95) ? RAM + at : RAM + below(c, 2 * BYTES),
	    percent(c, 95) ? 1 + below(c, percent(c, 50) ? 4000 : 65562) : (uint32_t)chance(c),
	    percent(c, 90) ? (queue ? 0 : WRITES) | (percent(c, 30) ? MORE : 0) : below(c, 8),
	    percent(c, 95) ? below(c, ENTRIES) : (uint32_t)chance(c));
}

/* One step of VM 1's driver. */
static void be_hostile(struct chance *c)
{
	instret_step = percent(c, 60) ? below(c, 3000) : 0;
	if (percent(c, 70))
		spoil(c, 1);
	if (percent(c, 60))
		large_offer(1, below(c, PORT_QUEUES), below(c, ENTRIES + 1));
	if (percent(c, 3))
		out(&large_drivers[1], below(c, 0x400), chance(c), 1U << below(c, 3));
	for (uint32_t n = below(c, 4); n && large_notify_once(1); n--)
		;
	if (in(&large_drivers[1], STATUS, 1) != 0xf && percent(c, 50))
		large_open_port(1, percent(c, 50) ? INDIRECT : 0, below(c, 20), 1 + below(c, 4000));
	instret_step = 0;
}

/* Takes all that VM 2 has got, which VM 1 may have sent; gives the buffers back. */
static void drop_all(uint32_t i)
{
	uint32_t head, size;

	while (large_drivers[i].got[PORT_RECEIVES] != large_used(i)) {
		large_next_used(i, &head, &size);
		large_offer(i, PORT_RECEIVES, head);
	}
}

/* What it does changes no memory but its own and buffers for frames, and no frame between others:
 * also while it has a frame on its way to one of them. */
static void beside_a_hostile_driver(void **state)
{
	static uint8_t before[BYTES];

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct chance c = {seed};

		large_start(percent(&c, 50) ? INDIRECT : 0, 60, 1600);
		memcpy(before, rams[3], BYTES);
		for (uint32_t step = 0; step < 200; step++) {
			uint32_t size = 14 + below(&c, percent(&c, 80) ? 1400 : 20000);

			be_hostile(&c);
			drop_all(0);
			drop_all(2);
			instret_step = percent(&c, 50) ? below(&c, 3000) : 0;
			large_send(0, macs[2], size, size < 100 ? large_none : large_tcp);
			instret_step = 0;
			large_assert_frame(2, 0, macs[2], size, size < 100 ? large_none : large_tcp,
			                   true);
		}
		assert_memory_equal(before, rams[3], BYTES);
		assert_int_equal(driver_counts(&large_drivers[0]).refused, 0);
		large_assert_status(0, 0xf);
		large_assert_status(2, 0xf);
	}
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(beside_a_hostile_driver),
	};

	driver_vcpu = &vcpu;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
