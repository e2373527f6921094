/* SPDX-License-Identifier: Apache-2.0 */
#include "core/operator/sample_pack.h"

#include <string.h>

#include "core/watch/samples.h"

#define FLAGS_SHIFT 24U
#define FLAGS       7U
#define LENGTH      0xffU
#define NO_SAMPLE   BIT(31) /* a record of another kind */

/* The first byte of a record: flags in 2:0, MORE, and a place in 7:4. */
#define MORE        8U /* a byte of MORE_* follows, and what these say */
#define PLACE_SHIFT 4U
#define NEW         SAMPLE_PACK_PLACES /* whose it is follows; it takes the next place */
#define OTHER       15U                /* its words follow as they are */

/* Bit n: word 3 + n is not as expected. */
#define MORE_CALLERS BIT(SAMPLE_PACK_REST)

#define SMALL 247U

/* A number up to SMALL is a byte. Behind a byte SMALL + n come n bytes, the low ones first. */
static uint8_t *put(uint8_t *to, uint64_t value)
{
	uint8_t *first = to++;

	*first = (uint8_t)value;
	if (value <= SMALL)
		return to;
	for (; value; value >>= 8)
		*to++ = (uint8_t)value;
	*first = (uint8_t)(SMALL + (to - first) - 1);
	return to;
}

/* A small difference is a small number, also below zero. */
static uint8_t *put_change(uint8_t *to, uint64_t *last, uint64_t now)
{
	uint64_t more = now - *last;

	*last = now;
	return put(to, more << 1 ^ -(more >> 63));
}

static uint32_t place_of(const struct sample_pack *pack, uint64_t whose)
{
	uint32_t i = 0;

	while (i < SAMPLE_PACK_PLACES && pack->places[i].whose != whose)
		i++;
	return i;
}

static struct sample_place *new_place(struct sample_pack *pack, uint64_t whose)
{
	struct sample_place *place = &pack->places[pack->n_news++ % SAMPLE_PACK_PLACES];

	*place = (struct sample_place){.whose = whose};
	return place;
}

/* Tells what is not as in the sample before: the same, the next number, and no callers. */
static uint8_t *put_more(uint8_t *to, struct sample_place *place, const uint64_t *words, uint32_t n)
{
	uint64_t last = words[2];
	uint8_t *what = to++;

	*what = 0;
	place->rest[SAMPLE_PACK_REST - 1]++;
	for (uint32_t i = 0; i < SAMPLE_PACK_REST; i++) {
		if (words[3 + i] == place->rest[i])
			continue;
		*what |= (uint8_t)BIT(i);
		to = put_change(to, &place->rest[i], words[3 + i]);
	}
	if (n == SAMPLE_WORDS)
		return *what ? to : what;
	*what |= MORE_CALLERS;
	*to++ = (uint8_t)(n - SAMPLE_WORDS);
	for (uint32_t i = SAMPLE_WORDS; i < n; i++)
		to = put_change(to, &last, words[i]);
	return to;
}

static uint8_t *put_sample(struct sample_pack *pack, const uint64_t *words, uint32_t n, uint8_t *to)
{
	uint8_t flags = (uint8_t)(words[0] >> FLAGS_SHIFT & FLAGS), *first = to++, *last;
	uint64_t whose = words[0] & ~((uint64_t)LENGTH | (uint64_t)LENGTH << FLAGS_SHIFT);
	uint32_t at = place_of(pack, whose);
	struct sample_place *place = &pack->places[at];

	if (at == NEW) {
		place = new_place(pack, whose);
		to = put(to, whose >> 32);
		to = put(to, whose >> 16 & LENGTH);
	}
	*first = (uint8_t)(at << PLACE_SHIFT | flags);
	to = put_change(to, &pack->time, words[1]);
	to = put_change(to, &place->pc[flags & SAMPLE_USER], words[2]);
	last = put_more(to, place, words, n);
	*first |= last > to ? MORE : 0;
	return last;
}

uint32_t sample_pack(struct sample_pack *pack, const uint64_t *words, uint8_t *to)
{
	uint32_t n = words[0] & LENGTH;

	if (!(words[0] & NO_SAMPLE))
		return (uint32_t)(put_sample(pack, words, n, to) - to);
	*to++ = OTHER << PLACE_SHIFT;
	memcpy(to, words, n * sizeof(words[0]));
	return 1 + n * (uint32_t)sizeof(words[0]);
}
