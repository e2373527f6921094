/* SPDX-License-Identifier: Apache-2.0 */
/* The ring of the console's output: order, shares, and VMs that wait for room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/console/ring.h"
#include "tests/host/chance.h"

#define VMS 3u

static struct ring ring;
static char memory[RING_BYTES(VMS)];

static void begin(void)
{
	memset(&ring, 0xa5, sizeof(ring));
	ring_init(&ring, memory, VMS);
}

static const char *text(size_t n)
{
	static char bytes[2048];

	memset(bytes, 'x', sizeof(bytes));
	assert_true(n <= sizeof(bytes));
	return bytes;
}

/* Adds until the share is full, and returns how many bytes it took. */
static size_t fill(unsigned int writer, size_t piece)
{
	size_t n = 0;

	while (ring_add(&ring, writer, text(piece), piece))
		n += piece;
	return n;
}

static void drop(size_t n)
{
	const char *at;

	while (n) {
		size_t next = ring_next(&ring, &at);

		assert_true(next > 0);
		next = next < n ? next : n;
		ring_drop(&ring, next);
		n -= next;
	}
}

/* A writer that has filled its share takes nothing of the others'. */
static void shares(void **state)
{
	(void)state;
	begin();
	assert_int_equal(ring_room(&ring, 0), RING_SHARE - RING_END - 2);
	assert_int_equal(ring_room(&ring, RING_TALLY), RING_TALLYS - 2);
	for (unsigned int vm = 0; vm < VMS; vm++)
		assert_true(fill(vm, 1) >= RING_SHARE - 8);
	assert_true(fill(RING_ANSWERS, 1) >= RING_ANSWERS_SHARE - 8);
	assert_int_equal(ring_room(&ring, RING_TALLY), RING_TALLYS - 2);
	assert_true(fill(RING_TALLY, 1) >= RING_TALLYS - 8);
	assert_true(ring.used <= ring.size);
	for (unsigned int writer = 0; writer < VMS; writer++)
		assert_int_equal(ring_room(&ring, writer), 0);
}

/* Each VM is told once, when it has as much as it can ask for, and not before. */
static void room_is_told(void **state)
{
	size_t n;

	(void)state;
	begin();
	assert_false(ring_waits(&ring, 1, RING_WAKE));
	n = fill(1, 100);
	assert_true(ring_waits(&ring, 1, RING_UART));
	while (ring_room(&ring, 1) < RING_WAKE - 1) {
		drop(1);
		assert_int_equal(ring_told(&ring), -1);
		n--;
	}
	assert_false(ring_waits(&ring, 1, RING_UART));
	drop(1);
	assert_int_equal(ring_told(&ring), 1);
	assert_int_equal(ring_told(&ring), -1);
	drop(n - 1);
	assert_int_equal(ring_told(&ring), -1);
	assert_int_equal(ring.used, 0);
	assert_int_equal(ring_room(&ring, 1), RING_SHARE - RING_END - 2);
}

/* A VM that waits again and again is not told before others that wait. */
static void each_has_its_turn(void **state)
{
	size_t n = 0;

	(void)state;
	begin();
	for (unsigned int vm = 0; vm < VMS; vm++) {
		n += fill(vm, 100);
		assert_true(ring_waits(&ring, vm, RING_UART));
	}
	drop(n);
	assert_int_equal(ring_told(&ring), 1);
	n = fill(1, 100);
	assert_true(ring_waits(&ring, 1, RING_UART));
	drop(n);
	assert_int_equal(ring_told(&ring), 2);
	assert_int_equal(ring_told(&ring), 0);
	assert_int_equal(ring_told(&ring), 1);
	assert_int_equal(ring_told(&ring), -1);
}

/* What comes out is what was added, in order, and each share has its bytes again. */
static void random_steps(void **state)
{
	struct chance luck = {1};
	uint32_t next_in = 0, next_out = 0;
	size_t waiting = 0, most = 0;

	(void)state;
	begin();
	for (uint32_t i = 0; i < 1000000; i++) {
		char piece[64];
		const char *at;
		unsigned int writer = below(&luck, VMS + 2);
		size_t n = 1 + below(&luck, sizeof(piece) - 1);

		writer = writer < VMS ? writer : RING_TALLY + writer - VMS;
		if (below(&luck, 1000) > i / 250 % 1000) {
			for (size_t j = 0; j < n; j++)
				piece[j] = (char)(next_in + j);
			if (ring_room(&ring, writer) >= n)
				assert_true(ring_add(&ring, writer, piece, n));
			else
				continue;
			next_in += (uint32_t)n;
			waiting += n;
			most = waiting > most ? waiting : most;
			continue;
		}
		n = ring_next(&ring, &at);
		assert_int_equal(n > 0, waiting > 0);
		n = n > 16 ? below(&luck, 17) : n;
		for (size_t j = 0; j < n; j++)
			assert_int_equal((uint8_t)at[j], (uint8_t)next_out++);
		if (n)
			ring_drop(&ring, n);
		waiting -= n;
	}
	drop(waiting);
	assert_true(most > sizeof(memory) / 2);
	assert_int_equal(ring.used, 0);
	for (unsigned int writer = 0; writer < RING_WRITERS; writer++)
		assert_int_equal(ring.used_by[writer], 0);
}

/* In a panic another hart may be changing it: whatever is read, nothing outside of it is written,
 * and no byte outside of its memory comes out. */
static void torn(void **state)
{
	struct chance luck = {1};
	const char *at;
	struct {
		struct ring ring;
		uint8_t beyond[64];
	} all;

	(void)state;
	for (uint32_t i = 0; i < 10000; i++) {
		size_t n, out = 0;

		memset(&all, 0xa5, sizeof(all));
		ring_init(&all.ring, memory, VMS);
		for (size_t j = 0; j < sizeof(memory); j++)
			memory[j] = (char)below(&luck, 256);
		all.ring.head = below(&luck, sizeof(memory));
		all.ring.used = below(&luck, sizeof(memory));
		all.ring.left = below(&luck, 2) ? below(&luck, 2048) : 0;
		all.ring.last = below(&luck, sizeof(memory));
		while (out < sizeof(memory) && (n = ring_next(&all.ring, &at))) {
			assert_true(at >= memory && at + n <= memory + sizeof(memory));
			ring_drop(&all.ring, n);
			out += n;
		}
		for (size_t j = 0; j < sizeof(all.beyond); j++)
			assert_int_equal(all.beyond[j], 0xa5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(shares),
	    cmocka_unit_test(room_is_told),
	    cmocka_unit_test(each_has_its_turn),
	    cmocka_unit_test(random_steps),
	    cmocka_unit_test(torn),
	};

	return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
