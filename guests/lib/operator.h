/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function by which a bare guest asks Tally as an operator, if its VM has the property
 * `operator`. docs/operator.md has the layout, byte for byte. Includes nothing but itself.
 */
#ifndef GUESTS_LIB_OPERATOR_H
#define GUESTS_LIB_OPERATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OPERATOR_ECAM   0x30000000UL
#define OPERATOR_ID     0x10f11af4U
#define OPERATOR_SLOTS  32U
#define OPERATOR_LAYOUT 2U /* this header's OPERATOR_VERSION */

/* Registers in BAR 0. */
enum {
	OPERATOR_DOORBELL = 0x00,    /* written: serves the requests in the ring */
	OPERATOR_STATE = 0x04,       /* bit 0: there are answers; a 1 clears it */
	OPERATOR_MASK = 0x08,        /* whether that interrupts */
	OPERATOR_VERSION = 0x0c,     /* of the layout */
	OPERATOR_ACCESS = 0x10,      /* 1: watch; 2: control */
	OPERATOR_SOURCE = 0x14,      /* of the interrupt controller */
	OPERATOR_IDENTITY = 0x18,    /* of the interrupt file of vcpu 0; 0: none */
	OPERATOR_REQUESTS_HZ = 0x1c, /* so many requests begin a second */
	OPERATOR_TIME = 0x20,        /* 64 bits: the machine's time minus the guest's */
	OPERATOR_RINGS = 0x28,       /* how many rings of samples there are; 0: it may not sample */
	OPERATOR_SAMPLES_HZ = 0x2c,  /* so many samples a second and hart */
	OPERATOR_HART = 0x100,       /* + 4 n: the id of the hart of ring n */
};

/* BAR 2. Indices count on for ever; the place in a ring is the index modulo its length. */
#define OPERATOR_REQUESTS 64U
#define OPERATOR_ANSWERS  16U
#define OPERATOR_HARTS    64U
/* Rings of samples, and the words of 64 bits in each. A sample has at most 6 + 64. */
#define OPERATOR_RINGS_AT     0x10000UL
#define OPERATOR_RING_WORDS   4096U
#define OPERATOR_SAMPLE_WORDS 70U

enum { OPERATOR_LINE, OPERATOR_END };

struct operator_answer {
	uint64_t tag;
	uint32_t kind;   /* OPERATOR_LINE or OPERATOR_END */
	uint32_t status; /* of OPERATOR_END: 0 done, 1 it cannot be done, 2 no such command */
	uint32_t length; /* of the text; a NUL is behind it */
	uint32_t unused;
	char text[1000];
};

struct operator_memory {
	uint32_t requests_taken, answers_written; /* Tally's */
	uint8_t tally[4096 - 8];
	uint32_t requests_written, answers_taken; /* the guest's */
	uint8_t guest[4096 - 8];
	struct operator_request {
		uint64_t tag; /* its answers have it */
		char text[120];
	} requests[OPERATOR_REQUESTS];
	struct operator_answer answers[OPERATOR_ANSWERS];
	/* Words of each hart's ring of samples: Tally's index, and the guest's. */
	struct operator_index {
		uint64_t words;
		uint8_t rest[56];
	} samples_written[OPERATOR_HARTS], samples_taken[OPERATOR_HARTS];
};

struct operator_function {
	uintptr_t config; /* its configuration space */
	uintptr_t page;   /* BAR 0 */
	struct operator_memory *memory;
};

static inline uint32_t operator_in(uintptr_t at)
{
	return *(volatile uint32_t *)at;
}

static inline uint32_t operator_read(const struct operator_function *f, uint32_t reg)
{
	return operator_in(f->page + reg);
}

static inline void operator_write(const struct operator_function *f, uint32_t reg, uint32_t value)
{
	*(volatile uint32_t *)(f->page + reg) = value;
}

static inline bool operator_find(struct operator_function *f)
{
	for (uint32_t slot = 0; slot < OPERATOR_SLOTS; slot++) {
		f->config = OPERATOR_ECAM + ((uintptr_t)slot << 15);
		if (operator_in(f->config) != OPERATOR_ID)
			continue;
		f->page = operator_in(f->config + 0x10) & ~0xfU;
		f->memory =
		    (struct operator_memory *)(uintptr_t)(operator_in(f->config + 0x18) & ~0xfU);
		return operator_read(f, OPERATOR_VERSION) == OPERATOR_LAYOUT;
	}
	return false;
}

/* Puts a request of at most 64 characters into the ring. Returns false if the ring is full. */
static inline bool operator_ask(const struct operator_function *f, uint64_t tag, const char *text)
{
	struct operator_memory *m = f->memory;
	uint32_t n = m->requests_written, i = 0;

	if (n - __atomic_load_n(&m->requests_taken, __ATOMIC_ACQUIRE) == OPERATOR_REQUESTS)
		return false;
	m->requests[n % OPERATOR_REQUESTS].tag = tag;
	do
		m->requests[n % OPERATOR_REQUESTS].text[i] = text[i];
	while (text[i++] && i < 120);
	__atomic_store_n(&m->requests_written, n + 1, __ATOMIC_RELEASE);
	return true;
}

/* Serves the ring. When the store is done, all is answered or the ring of answers is full: then
 * ring again after having taken answers. */
static inline void operator_ring(const struct operator_function *f)
{
	__asm__ volatile("fence rw, o" ::: "memory");
	operator_write(f, OPERATOR_DOORBELL, 1);
	__asm__ volatile("fence o, rw" ::: "memory");
}

/* Returns the next record of the answers, or NULL if there is none. operator_took() frees it. */
static inline const struct operator_answer *operator_next(const struct operator_function *f)
{
	struct operator_memory *m = f->memory;
	uint32_t n = m->answers_taken;

	if (__atomic_load_n(&m->answers_written, __ATOMIC_ACQUIRE) == n)
		return NULL;
	return &m->answers[n % OPERATOR_ANSWERS];
}

static inline void operator_took(const struct operator_function *f)
{
	struct operator_memory *m = f->memory;

	__atomic_store_n(&m->answers_taken, m->answers_taken + 1, __ATOMIC_RELEASE);
}

/* Takes the oldest sample of a ring. Returns its number of words, or 0 if there is none. Tally
 * writes no word again that was not taken: what has no room is lost, and counted. */
static inline uint32_t operator_sample(const struct operator_function *f, uint32_t ring,
                                       uint64_t words[OPERATOR_SAMPLE_WORDS])
{
	const uint64_t *from = (const uint64_t *)((uintptr_t)f->memory + OPERATOR_RINGS_AT) +
	                       (uintptr_t)ring * OPERATOR_RING_WORDS;
	uint64_t *taken = &f->memory->samples_taken[ring].words, at = *taken;
	uint32_t n = 1;

	if (__atomic_load_n(&f->memory->samples_written[ring].words, __ATOMIC_ACQUIRE) == at)
		return 0;
	for (uint32_t i = 0; i < n && i < OPERATOR_SAMPLE_WORDS; i++) {
		words[i] = from[(at + i) % OPERATOR_RING_WORDS];
		n = words[0] & 0xff;
	}
	__atomic_store_n(taken, at + n, __ATOMIC_RELEASE);
	return n;
}

#endif
