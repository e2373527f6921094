/* SPDX-License-Identifier: Apache-2.0 */
/* Ports of a network with offloads: features, frames of up to 64 KiB in many buffers, and headers
 * that receivers get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"
#include "tests/host/ports_large.h"

/* --- features ------------------------------------------------------------------------------ */

static void features(void **state)
{
	const struct driver *d = &large_drivers[0];

	(void)state;
	for (uint32_t on = 0; on < 2; on++) {
		stations_offload(on);
		stations_make();
		logged = 0;
		large_agree(0, 0);
		out(d, 0, 0, 4);
		assert_int_equal(in(d, 4, 4) & 0xffff, on ? OFFERED | 0x28 : 0x28);
		assert_int_equal(logged, on);
		large_assert_status(0, on ? 3 : 0xb);
		/* Another network has none. */
		large_drivers[3] = (struct driver){.vm = &stations[3]};
		assert_int_equal(in(&large_drivers[3], 4, 4) & 0xffff, 0x28);
	}
	for (uint32_t bit = 0; bit < 16; bit++) {
		uint32_t without = OFFERED & ~(1U << bit);

		assert_int_equal(large_agree(0, without),
		                 without == OFFERED || (without & OFFLOADS) == OFFLOADS ? 0xb : 3);
	}
	assert_int_equal(large_agree(0, OFFLOADS), 0xb);
	/* It is said once. */
	assert_int_equal(logged, 1);
}

/* --- frames -------------------------------------------------------------------------------- */

static void frames_arrive_whole(void **state)
{
	static const uint32_t lengths[] = {14,   15,    60,          1518,   1519,
	                                   4096, 30000, LARGEST - 1, LARGEST};
	static const uint32_t of_buffers[] = {26, 27, 64, 1367, 1536, 4096};
	uint64_t sent[2] = {0}, bytes[2] = {0};

	(void)state;
	for (uint32_t way = 0; way < 2; way++) {
		for (uint32_t k = 0; k < ARRAY_SIZE(of_buffers); k++) {
			uint32_t size = of_buffers[k], n = 0x18000 / size;

			large_start(way ? INDIRECT : 0, n < ENTRIES ? n : ENTRIES, size);
			sent[0] = bytes[0] = 0;
			for (uint32_t i = 0; i < 8 * ARRAY_SIZE(lengths); i++) {
				uint32_t length = lengths[i / 8], parts = 1 + i % 8 * 18 / 7;
				bool large = length > 100;

				if (HEADER + length > size * MANY || length < 4 * parts * parts / 2)
					continue;
				large_offer_frame(0, macs[1], length,
				                  large ? large_tcp : large_none, parts, i % 8);
				assert_false(large_notify_once(0));
				large_assert_frame(1, 0, macs[1], length,
				                   large ? large_tcp : large_none, true);
				sent[0]++;
				bytes[0] += length;
			}
			large_assert_no_frame(1);
			large_assert_no_frame(2);
			large_assert_counts(0, sent[0], 0, 0, 0);
			large_assert_counts(1, 0, 0, sent[0], 0);
			assert_int_equal(driver_counts(&large_drivers[0]).sent_bytes, bytes[0]);
			assert_int_equal(driver_counts(&large_drivers[1]).received_bytes, bytes[0]);
		}
	}
}

static void lengths(void **state)
{
	struct large_header v6 = large_tcp;

	(void)state;
	large_start(0, 16, 4352);
	v6.segments = TCPV6;
	large_send(0, macs[1], 13, large_none);
	large_send(0, macs[1], 1519, large_none);
	large_send(0, macs[1], LARGEST + 1, large_tcp);
	large_assert_no_frame(1);
	large_assert_counts(0, 0, 3, 0, 0);
	large_send(0, macs[1], 1518, large_none);
	large_assert_frame(1, 0, macs[1], 1518, large_none, true);
	large_send(0, macs[1], LARGEST, v6);
	large_assert_frame(1, 0, macs[1], LARGEST, v6, true);
	/* 19 parts, and one more. */
	large_offer_frame(0, macs[1], 9000, large_tcp, PARTS, 0);
	assert_false(large_notify_once(0));
	large_assert_frame(1, 0, macs[1], 9000, large_tcp, true);
	large_offer_frame(0, macs[1], 9000, large_tcp, PARTS + 1, 0);
	assert_false(large_notify_once(0));
	large_assert_no_frame(1);
	large_assert_status(0, BROKEN);
	large_assert_status(1, 0xf);
}

static void headers(void **state)
{
	static const struct large_header wrong[] = {
	    {2, 0, 0, 0, 0, 0, 0},             /* DATA_VALID, for receivers only */
	    {4, 0, 0, 0, 0, 0, 0},             /* RSC_INFO */
	    {0x81, 0, 0, 0, 34, 16, 0},        /* no flag */
	    {CSUM, 0, 0, 0, 13, 16, 0},        /* in the Ethernet header */
	    {CSUM, 0, 0, 0, 985, 14, 0},       /* over the end */
	    {CSUM, 0, 0, 0, 34, 65535, 0},     /* the sum is over 16 bits */
	    {CSUM, 0, 0, 0, 65535, 1, 0},      /* */
	    {CSUM, 3, 66, 1460, 34, 16, 0},    /* UDP */
	    {CSUM, 0x81, 66, 1460, 34, 16, 0}, /* ECN */
	    {CSUM, 5, 66, 1460, 34, 16, 0},
	    {0, TCPV4, 66, 1460, 34, 16, 0},    /* segments without a checksum */
	    {CSUM, TCPV4, 66, 0, 34, 16, 0},    /* of no bytes */
	    {CSUM, TCPV4, 13, 1460, 34, 16, 0}, /* no header */
	    {CSUM, TCPV6, 1001, 1460, 34, 16, 0},
	};
	static const struct large_header right[] = {
	    {0, 0, 0, 0, 0, 0, 77},         {0, 0, 1, 2, 3, 4, 5},
	    {CSUM, 0, 0, 0, 14, 0, 0},      {CSUM, 0, 9999, 1, 984, 14, 0},
	    {CSUM, TCPV4, 14, 1, 14, 0, 0}, {CSUM, TCPV6, 1000, 65535, 34, 16, 65535},
	};

	(void)state;
	large_start(0, 16, 4352);
	for (uint32_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		large_send(0, macs[1], 1000, wrong[i]);
		large_assert_no_frame(1);
		large_assert_counts(0, 0, i + 1, 0, 0);
	}
	for (uint32_t i = 0; i < ARRAY_SIZE(right); i++) {
		large_send(0, macs[1], 1000, right[i]);
		large_assert_frame(1, 0, macs[1], 1000, right[i], true);
	}
	/* Sources are looked at as ever. */
	large_offer_frame(0, macs[1], 1000, large_tcp, 1, 0);
	memcpy(large_memory(0, SENT + HEADER + 6), macs[2], 6);
	large_notify(0);
	large_assert_no_frame(1);
	large_assert_counts(0, ARRAY_SIZE(right), ARRAY_SIZE(wrong) + 1, 0, 0);
}

static void too_few_buffers(void **state)
{
	(void)state;
	large_start(0, 5, 1000);
	/* What is taken for a frame that does not fit is there for the next one. */
	for (uint32_t i = 0; i < 3; i++)
		large_send(0, macs[1], 5000 - HEADER + 1, large_tcp);
	large_assert_no_frame(1);
	large_assert_counts(1, 0, 0, 0, 3);
	large_send(0, macs[1], 5000 - HEADER, large_tcp);
	large_assert_frame(1, 0, macs[1], 5000 - HEADER, large_tcp, false);
	large_send(0, macs[1], 60, large_none);
	large_assert_counts(0, 5, 0, 0, 0);
	large_assert_counts(1, 0, 0, 1, 4);
	/* No frame has more than 48. */
	large_start(0, ENTRIES, 1000);
	large_send(0, macs[1], MANY * 1000 - HEADER + 1, large_tcp);
	large_assert_no_frame(1);
	large_send(0, macs[1], MANY * 1000 - HEADER, large_tcp);
	large_assert_frame(1, 0, macs[1], MANY * 1000 - HEADER, large_tcp, true);
	large_assert_status(1, 0xf);
}

static void malformed_buffers(void **state)
{
	(void)state;
	for (uint32_t how = 0; how < 3; how++) {
		struct driver *d = &large_drivers[1];

		large_start(0, 0, 4000);
		driver_describe(d, PORT_RECEIVES, 0, RAM + RECEIVED, 4000, WRITES, 0);
		driver_describe(d, PORT_RECEIVES, 1, how == 2 ? RAM + BYTES : RAM + RECEIVED,
		                how ? 4000 : 25, WRITES | (how == 1 ? MORE : 0), 2);
		driver_describe(d, PORT_RECEIVES, 2, RAM + RECEIVED, 4000, WRITES, 0);
		large_offer(1, PORT_RECEIVES, 0);
		large_offer(1, PORT_RECEIVES, 1);
		large_send(0, macs[1], 1000, large_tcp);
		large_assert_frame(1, 0, macs[1], 1000, large_tcp, false);
		large_send(0, macs[1], 5000, large_tcp);
		large_assert_no_frame(1);
		large_assert_status(1, BROKEN);
		large_assert_counts(1, 0, 0, 1, 1);
		large_assert_status(0, 0xf);
	}
}

static void frames_for_several(void **state)
{
	(void)state;
	large_start(0, 16, 4352);
	for (uint32_t step = 0; step <= 4000; step += 1000) {
		instret_step = step;
		large_send(0, broadcast, LARGEST, large_tcp);
		large_assert_frame(1, 0, broadcast, LARGEST, large_tcp, true);
		large_assert_frame(2, 0, broadcast, LARGEST, large_tcp, true);
		/* To the uplink. */
		large_send(1, macs[3], 30000, large_tcp);
		large_assert_frame(2, 1, macs[3], 30000, large_tcp, true);
	}
}

static void limits(void **state)
{
	(void)state;
	stations_limit(3, 70000);
	large_start(0, 16, 4352);
	stations_limit(0, 0);
	for (uint32_t i = 0; i < 3; i++) {
		machine_time += 100000;
		instret_step = 4000;
		large_send(0, macs[1], LARGEST, large_tcp);
		instret_step = 0;
		large_assert_frame(1, 0, macs[1], LARGEST, large_tcp, true);
		large_send(0, macs[1], 70001 - LARGEST, large_tcp);
		large_assert_no_frame(1);
		large_send(0, macs[1], 70000 - LARGEST, large_tcp);
		large_assert_frame(1, 0, macs[1], 70000 - LARGEST, large_tcp, true);
		large_assert_counts(0, 2 * (i + 1), i + 1, 0, 0);
	}
}

int main(void)
{
	static struct vcpu vcpu;
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(features),
	    cmocka_unit_test(frames_arrive_whole),
	    cmocka_unit_test(lengths),
	    cmocka_unit_test(headers),
	    cmocka_unit_test(too_few_buffers),
	    cmocka_unit_test(malformed_buffers),
	    cmocka_unit_test(frames_for_several),
	    cmocka_unit_test(limits),
	};

	driver_vcpu = &vcpu;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
