/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `samples`, which a program sends again and again while VMs are sampled: prints the
 * contents that the rings of all harts had when the command came (core/watch/samples.h). A line has
 * the number of the hart and bytes in base64. Those of all lines of a hart are packed records
 * (core/operator/sample_pack.h), so a record may begin in one line and end in the next. The first
 * line says that it is that, because a program may get several answers at once.
 */
#include <string.h>

#include "core/operator/prompt.h"
#include "core/operator/sample_pack.h"
#include "core/watch/samples.h"

/* A multiple of three, so that base64 needs no padding. More would make the stay in HS long, since
 * each character is written to the console. */
#define LINE_BYTES 144U
/* Packed in one stay: no more records are begun after so many words. */
#define STAY_WORDS 24U

/* Of the hart whose ring is being told. */
static struct {
	uint32_t hart;
	uint64_t end; /* of its words when the command came */
	bool begins;  /* no line has been printed */
	struct sample_pack pack;
	uint32_t n; /* bytes that have not been printed */
	uint8_t bytes[LINE_BYTES + SAMPLE_PACK_MOST];
} now;

/* Only after the last bytes of a hart may some lack at three. There is room for them. */
static void add_base64(struct text *text, uint8_t *bytes, uint32_t size)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *end = bytes + size;
	char *to = text->buf + text->length;
	uint32_t lacking = (3 - size % 3) % 3;

	memset(bytes + size, 0, lacking);
	for (; bytes < end; bytes += 3, to += 4) {
		uint32_t three = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];

		to[0] = digits[three >> 18];
		to[1] = digits[three >> 12 & 63];
		to[2] = digits[three >> 6 & 63];
		to[3] = digits[three & 63];
	}
	memset(to - lacking, '=', lacking);
	*to = '\0';
	text->length = (size_t)(to - text->buf);
}

/* Begins with the first hart from this one on that has noted something. Returns false if there is
 * none. */
static bool begin(uint32_t hart)
{
	while (hart < n_pcpus && !samples_wait(hart))
		hart++;
	if (hart == n_pcpus)
		return false;
	now.hart = hart;
	now.end = samples_noted(hart);
	now.begins = true;
	memset(&now.pack, 0, sizeof(now.pack));
	return true;
}

/* Returns whether there was something. */
static bool pack(void)
{
	uint64_t words[SAMPLE_RECORD_MOST];
	uint32_t n = 0, packed = 0;

	while (now.n < LINE_BYTES && packed < STAY_WORDS &&
	       (n = samples_take(now.hart, now.end, words))) {
		now.n += sample_pack(&now.pack, words, now.bytes + now.n);
		packed += n;
	}
	return packed;
}

static void print(struct prompt *p)
{
	uint32_t n = now.n < LINE_BYTES ? now.n : LINE_BYTES;

	text_add(&p->out, now.begins ? "%lu begin " : "%lu ", hart_stacks[now.hart].pcpu.hartid);
	now.begins = false;
	add_base64(&p->out, now.bytes, n);
	now.n -= n;
	memmove(now.bytes, now.bytes + n, now.n);
}

/* Each of these is for a stay of its own: to begin, to pack records, to print a line. */
void prompt_samples(struct prompt *p)
{
	bool more = true;

	if (!p->row++)
		more = begin(now.n = 0);
	else if (now.n < LINE_BYTES && pack())
		return;
	else if (now.n)
		print(p);
	else
		more = begin(now.hart + 1);
	if (!more)
		p->vm = n_vms;
}
