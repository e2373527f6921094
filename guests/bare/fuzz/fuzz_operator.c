/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of an operator, of likely and unlikely words; anything where the guest may write of its
 * function, and any access to its registers. */
#include "guests/bare/fuzz/fuzz.h"
#include "guests/lib/operator.h"

static struct operator_function function;

static const char *const words[] = {
    "vms",   "exits", "pmu",   "observe", "sample",       "observed", "unobserve", "help",
    "start", "stop",  "move",  "restart", "crash",        "trace",    "samples",   "poweroff",
    "alpha", "beta",  "gamma", "0x2:u",   "instructions", "0xf0109",  "100",       "1000hz",
    "64",    "0",     "on",    "--json",  "\x14=1",       "\n",       "16777217",  "",
};

bool fuzz_operator_begin(void)
{
	return bootarg_num("operator", 0) && operator_find(&function);
}

/* The first word is a command, more often than not. */
static void put_text(struct fuzz_vcpu *v, char *text, uint32_t size)
{
	uint32_t n = 0;

	for (uint64_t left = 1 + fuzz_below(v, 5), first = left; left; left--) {
		const char *word =
		    left == first && !fuzz_once_in(v, 4) ? words[fuzz_below(v, 8)] : PICK(v, words);

		while (*word && n < size - 1)
			text[n++] = *word++;
		if (left > 1 && n < size - 1)
			text[n++] = ' ';
	}
	text[n] = '\0';
	if (fuzz_once_in(v, 8))
		text[fuzz_below(v, size)] = (char)fuzz_random(v);
}

static void request(struct fuzz_vcpu *v)
{
	struct operator_memory *m = function.memory;
	uint32_t at = m->requests_taken;
	struct operator_request *r = &m->requests[at % OPERATOR_REQUESTS];

	r->tag = fuzz_random(v);
	put_text(v, r->text, sizeof(r->text));
	m->answers_taken = m->answers_written;
	m->requests_written = at + 1;
	operator_ring(&function);
}

static void scribble(struct fuzz_vcpu *v)
{
	struct operator_memory *m = function.memory;
	uint64_t value =
	    fuzz_once_in(v, 2) ? fuzz_value(v) : m->answers_written - fuzz_below(v, 20);
	uint64_t *words_of[] = {(uint64_t *)&m->requests_written, &m->samples_taken[0].words,
	                        (uint64_t *)m->requests + fuzz_below(v, 1024)};

	*PICK(v, words_of) = value;
}

static void touch(struct fuzz_vcpu *v)
{
	uint64_t at = function.page + fuzz_below(v, fuzz_once_in(v, 2) ? 0x30 : 0x1008);
	uint64_t value = fuzz_value(v);

	switch (fuzz_below(v, 5)) {
	case 0:
		*(volatile uint8_t *)at = (uint8_t)value;
		break;
	case 1:
		*(volatile uint16_t *)at = (uint16_t)value;
		break;
	case 2:
		*(volatile uint64_t *)at = value;
		break;
	case 3:
		(void)*(volatile uint64_t *)at;
		break;
	default:
		*(volatile uint32_t *)(at & ~3UL) = (uint32_t)value;
	}
}

void fuzz_operator(struct fuzz_vcpu *v)
{
	for (uint64_t n = 1 + fuzz_below(v, 4); n; n--) {
		switch (fuzz_below(v, 4)) {
		case 0:
			scribble(v);
			break;
		case 1:
			touch(v);
			break;
		default:
			request(v);
		}
	}
}
