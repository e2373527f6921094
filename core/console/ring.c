/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console/ring.h"

#include <string.h>

#define HEADER      2u
#define LENGTH_BITS 11u
#define LENGTH_MOST ((1u << LENGTH_BITS) - 1)
_Static_assert(RING_IDS == 1u << (16 - LENGTH_BITS), "a header has the writer");

_Static_assert(RING_WAKE + RING_END + HEADER < RING_SHARE, "a VM that waits is told");

void ring_init(struct ring *r, char *memory, unsigned int n_vms)
{
	*r = (struct ring){.bytes = memory, .size = RING_BYTES(n_vms)};
}

static uint32_t share(unsigned int writer)
{
	return writer == RING_TALLY     ? RING_TALLYS
	       : writer == RING_ANSWERS ? RING_ANSWERS_SHARE
	                                : RING_SHARE;
}

size_t ring_room(const struct ring *r, unsigned int writer)
{
	uint32_t kept = r->used_by[writer] + HEADER + (writer < CONSOLE_MAX_VMS ? RING_END : 0);

	return kept < share(writer) ? share(writer) - kept : 0;
}

static uint32_t place(const struct ring *r, uint32_t at)
{
	return at < r->size ? at : at - r->size;
}

static void put_header(struct ring *r)
{
	uint32_t header = (uint32_t)r->last_writer << LENGTH_BITS | r->last_length;

	r->bytes[r->last] = (char)header;
	r->bytes[place(r, r->last + 1)] = (char)(header >> 8);
}

/* Copies to the end of what is used. */
static void append(struct ring *r, const char *s, size_t n)
{
	uint32_t to = place(r, r->head + r->used);
	size_t first = n < r->size - to ? n : r->size - to;

	memcpy(r->bytes + to, s, first);
	memcpy(r->bytes, s + first, n - first);
	r->used += (uint32_t)n;
	r->added += n;
}

/* Whether n more bytes can go to the newest record. */
static bool extends(const struct ring *r, unsigned int writer, size_t n)
{
	return r->used && writer == r->last_writer && r->last_length + n <= LENGTH_MOST;
}

bool ring_add(struct ring *r, unsigned int writer, const char *s, size_t n)
{
	bool more = extends(r, writer, n);
	size_t all = n + (more ? 0 : HEADER);

	/* In a panic another hart may be changing the ring. */
	if (n > LENGTH_MOST || r->used_by[writer] + all > share(writer) || r->used > r->size - all)
		return false;
	r->used_by[writer] += (uint32_t)all;
	if (!more) {
		r->last = place(r, r->head + r->used);
		r->last_writer = (uint8_t)writer;
		r->last_length = 0;
		r->last_begun = false;
		r->used += HEADER;
		r->added += HEADER;
	}
	append(r, s, n);
	r->last_length += (uint16_t)n;
	if (r->last_begun)
		r->left += (uint32_t)n;
	else
		put_header(r);
	return true;
}

static void release(struct ring *r, uint32_t n)
{
	uint32_t bit = r->writer < CONSOLE_MAX_VMS ? 1u << r->writer : 0;

	r->head = place(r, r->head + n);
	r->used -= n;
	r->used_by[r->writer] -= n;
	if (r->waiting & bit && ring_room(r, r->writer) >= RING_WAKE) {
		r->waiting &= ~bit;
		r->ready |= bit;
	}
}

size_t ring_next(struct ring *r, const char **at)
{
	if (!r->used)
		return 0;
	if (!r->left) {
		uint32_t header = (uint8_t)r->bytes[r->head] |
		                  (uint32_t)(uint8_t)r->bytes[place(r, r->head + 1)] << 8;

		r->writer = (uint8_t)(header >> LENGTH_BITS);
		r->left = header & LENGTH_MOST;
		r->last_begun = r->head == r->last;
		release(r, HEADER);
	}
	*at = r->bytes + r->head;
	return r->left < r->size - r->head ? r->left : r->size - r->head;
}

void ring_drop(struct ring *r, size_t n)
{
	r->left -= (uint32_t)n;
	release(r, (uint32_t)n);
}

bool ring_waits(struct ring *r, unsigned int vm, size_t least)
{
	if (ring_room(r, vm) >= least)
		return false;
	r->waiting |= 1u << vm;
	return true;
}

int ring_told(struct ring *r)
{
	uint8_t vm = r->told;

	if (!r->ready)
		return -1;
	do
		vm = (uint8_t)((vm + 1) % CONSOLE_MAX_VMS);
	while (!(r->ready >> vm & 1));
	r->ready &= ~(1u << vm);
	r->told = vm;
	return vm;
}
