/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prompt's `samples`, which a program sends again and again while VMs are sampled: prints the
 * contents that the rings of all harts had when the command came (core/watch/samples.h). A line has
 * the number of the hart and words of its ring in base64, the low byte first. A sample may begin in
 * one line and end in the next.
 */
#include "core/operator/prompt.h"
#include "core/watch/samples.h"

/* A multiple of three, so that base64 needs no padding. More would make the stay in HS long, since
 * each character is written to the console. */
#define LINE_WORDS 18U

static void add_base64(struct text *text, const uint64_t *words, uint32_t n)
{
	static const char digits[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *bytes = (const uint8_t *)words;

	char *to = text->buf + text->length;
	uint32_t size = 8 * n;

	for (; size >= 3; size -= 3, bytes += 3, to += 4) {
		uint32_t three = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 8 | bytes[2];

		to[0] = digits[three >> 18];
		to[1] = digits[three >> 12 & 63];
		to[2] = digits[three >> 6 & 63];
		to[3] = digits[three & 63];
	}
	if (size) {
		uint32_t three = (uint32_t)bytes[0] << 16 | (size > 1 ? bytes[1] : 0U) << 8;

		*to++ = digits[three >> 18];
		*to++ = digits[three >> 12 & 63];
		*to++ = size > 1 ? digits[three >> 6 & 63] : '=';
		*to++ = '=';
	}
	*to = '\0';
	text->length = (size_t)(to - text->buf);
}

void prompt_samples(struct prompt *p)
{
	static uint32_t hart;
	static uint64_t end; /* of that hart's words when the command came */
	uint64_t words[LINE_WORDS];
	uint32_t n = 0;

	if (!p->row++) {
		hart = 0;
		end = samples_noted(hart);
	}
	while (!(n = samples_take(hart, end, words, LINE_WORDS)) && ++hart < n_pcpus)
		end = samples_noted(hart);
	if (!n) {
		p->vm = n_vms;
		return;
	}
	text_add(&p->out, "%lu ", hart_stacks[hart].pcpu.hartid);
	add_base64(&p->out, words, n);
}
