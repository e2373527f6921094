/* SPDX-License-Identifier: Apache-2.0 */
/* Packed samples (core/operator/sample_pack.h): a reader gets the words of each record back,
 * whatever they are; and those of guests that work are short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/operator/sample_pack.h"
#include "core/watch/samples.h"
#include "tests/host/chance.h"

#define VCPUS 20U /* more than there are places */

/* --- the reader, by docs/samples.md ------------------------------------------------------ */

static struct reader {
	const uint8_t *at;
	uint64_t time, n_news;
	struct {
		uint64_t whose, pc[2], satp, events, number;
	} places[14];
} reader;

static uint64_t number(void)
{
	uint64_t value = *reader.at++;
	uint32_t n = value > 247 ? (uint32_t)value - 247 : 0;

	for (uint32_t i = 0; i < n; i++)
		value = (i ? value : 0) | (uint64_t)*reader.at++ << 8 * i;
	return value;
}

static uint64_t changed(uint64_t *last)
{
	uint64_t more = number();

	return *last += more >> 1 ^ -(more & 1);
}

static uint32_t read_sample(uint8_t first, uint64_t *words)
{
	uint32_t at = first >> 4, flags = first & 7, n = 6;
	uint64_t last;
	uint8_t more;

	if (at == 14) {
		at = (uint32_t)(reader.n_news++ % 14);
		memset(&reader.places[at], 0, sizeof(reader.places[at]));
		reader.places[at].whose = number() << 32;
		reader.places[at].whose |= number() << 16;
	}
	words[1] = changed(&reader.time);
	words[2] = last = changed(&reader.places[at].pc[flags & 1]);
	more = first & 8 ? *reader.at++ : 0;
	reader.places[at].number++;
	if (more & 1)
		changed(&reader.places[at].satp);
	if (more & 2)
		changed(&reader.places[at].events);
	if (more & 4)
		changed(&reader.places[at].number);
	n += more & 8 ? *reader.at++ : 0;
	for (uint32_t i = 6; i < n; i++)
		words[i] = changed(&last);
	words[0] = reader.places[at].whose | (uint64_t)flags << 24 | n;
	words[3] = reader.places[at].satp;
	words[4] = reader.places[at].events;
	words[5] = reader.places[at].number;
	return n;
}

static uint32_t read_record(const uint8_t *from, uint64_t *words)
{
	uint32_t n;

	reader.at = from + 1;
	if (*from >> 4 != 15)
		return read_sample(*from, words);
	n = *reader.at;
	memcpy(words, reader.at, n * 8);
	reader.at += n * 8;
	return n;
}

/* --- records ------------------------------------------------------------------------------- */

static struct chance luck;

static uint64_t any(void)
{
	return chance(&luck) >> below(&luck, 64);
}

/* Of a guest that works: a kernel's text is of some MiB, a rate changes its period a little. */
static uint64_t working(uint32_t i, uint64_t last)
{
	static uint64_t time;

	switch (i) {
	case 1:
		return time += 5000 + below(&luck, 10000);
	case 2:
		return 0xffffffff80000000 + below(&luck, 8U << 20);
	case 3:
		return 0x8000000000080000;
	case 4:
		return 1000000 + below(&luck, 10000);
	default:
		return last + 1;
	}
}

static void make(uint64_t *words, uint32_t n, bool works, uint64_t last)
{
	uint64_t flags = works ? 0 : below(&luck, 8);
	uint64_t vcpu = below(&luck, works ? 2 : VCPUS);

	words[0] = (vcpu + 7) << 32 | flags << 24 | vcpu << 16 | n;
	for (uint32_t i = 1; i < n; i++)
		words[i] = works ? working(i, last) : any();
}

static struct sample_pack pack;

static uint32_t goes_through(const uint64_t *words)
{
	uint8_t bytes[SAMPLE_PACK_MOST];
	uint64_t back[SAMPLE_RECORD_MOST];
	uint32_t n = sample_pack(&pack, words, bytes), length = words[0] & 0xff;

	assert_in_range(n, 1, SAMPLE_PACK_MOST);
	assert_int_equal(read_record(bytes, back), length);
	assert_ptr_equal(reader.at, bytes + n);
	assert_memory_equal(back, words, length * sizeof(words[0]));
	return n;
}

static void begin(void **state)
{
	(void)state;
	memset(&pack, 0, sizeof(pack));
	memset(&reader, 0, sizeof(reader));
}

static void test_any_words(void **state)
{
	begin(state);
	for (uint32_t i = 0; i < 200000; i++) {
		uint64_t words[SAMPLE_RECORD_MOST];

		make(words, 6 + below(&luck, 65), false, 0);
		/* Nearly as the one before, now and then. */
		if (below(&luck, 4) == 0)
			words[3] = words[4] = 5;
		if (below(&luck, 8) == 0)
			words[0] |= BIT(31);
		(void)goes_through(words);
	}
}

static void test_the_longest(void **state)
{
	uint64_t words[SAMPLE_RECORD_MOST] = {UINT64_MAX << 32 | 255U << 16 | SAMPLE_RECORD_MOST};

	begin(state);
	for (uint32_t i = 1; i < SAMPLE_RECORD_MOST; i++)
		words[i] = i < SAMPLE_WORDS || i % 2 ? BIT(63) : 0;
	/* Whose it is, all words but the first, what follows, and how many callers. */
	assert_int_equal(goes_through(words), 1 + 5 + 2 + 9 * (SAMPLE_RECORD_MOST - 1) + 1 + 1);
}

static void test_working_guests_are_short(void **state)
{
	uint64_t numbers[2] = {0}, bytes = 0;

	begin(state);
	for (uint32_t i = 0; i < 1000; i++) {
		uint64_t words[SAMPLE_WORDS];
		uint32_t vcpu;

		make(words, SAMPLE_WORDS, true, 0);
		vcpu = words[0] >> 16 & 0xff;
		words[5] = ++numbers[vcpu];
		bytes += goes_through(words);
	}
	/* In base64, and with what a line has around it, below 20. */
	assert_in_range(bytes / 1000, 6, 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_any_words),
	    cmocka_unit_test(test_the_longest),
	    cmocka_unit_test(test_working_guests_are_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
