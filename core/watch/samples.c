/* SPDX-License-Identifier: Apache-2.0 */
#include "core/watch/samples.h"

#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/vcpu/stay.h"
#include "core/vcpu/unwind.h"
#include "core/vcpu/vm.h"

struct sample_ring {
	/* Its hart's. */
	uint64_t noted; /* words in this life of its reader */
	uint64_t since; /* host time at which `left` was hz */
	uint32_t left;  /* samples that may be taken before renew() */
	/* Constant after boot. */
	uint32_t hz;     /* samples a second at most */
	uint32_t length; /* in words, a power of two */
	uint32_t limit;  /* if more words than these are not taken, a sample has no room */
	uint64_t *words;
	uint64_t *written; /* what the reader sees of `noted` */
	/* How many words the reader has taken. If that is a guest, Tally does not write it, and it
	 * may be any value: then samples of its own are lost or replaced. */
	uint64_t *taken;
} __attribute__((aligned(64)));
_Static_assert(sizeof(struct sample_ring) == 64, "a cache line");

/* One for each hart: the serial line's, then those of VM n of the tree, or NULL. */
static struct sample_ring *rings_of[VM_MAX_VMS + 1];

/* Indices of the serial line's rings, which the boot hart empties. In different cache lines. */
struct serial_index {
	uint64_t written __attribute__((aligned(64)));
	uint64_t taken __attribute__((aligned(64)));
};

/* Limits of a period: its growth from one sample to the next, and its length. */
#define GROWS   16U
#define LONGEST (UINT64_C(1) << 40)

void samples_make_rings(uint32_t client, uint32_t length, uint32_t hz, void *(*alloc)(size_t size))
{
	struct sample_ring *rings = alloc(n_pcpus * sizeof(rings[0]));

	rings_of[client] = rings;
	for (uint32_t i = 0; i < n_pcpus; i++) {
		rings[i].length = length;
		rings[i].limit = length - SAMPLE_WORDS;
		rings[i].hz = rings[i].left = hz;
	}
}

void samples_set_ring(uint32_t client, uint32_t hart, uint64_t *words, uint64_t *written,
                      uint64_t *taken)
{
	struct sample_ring *ring = &rings_of[client][hart];

	ring->words = words;
	ring->written = written;
	ring->taken = taken;
}

struct sample_ring *samples_rings(uint32_t client)
{
	return rings_of[client];
}

void *samples_page(uint32_t client, uint32_t n)
{
	const struct sample_ring *rings = rings_of[client];
	uint32_t words = PAGE_SIZE / sizeof(uint64_t);
	uint32_t each = rings ? rings->length / words : 1;

	return rings && n / each < n_pcpus ? rings[n / each].words + (size_t)(n % each) * words
	                                   : NULL;
}

void samples_forget(uint32_t client)
{
	struct sample_ring *rings = rings_of[client];

	for (uint32_t i = 0; rings && i < n_pcpus; i++) {
		rings[i].noted = rings[i].since = 0;
		rings[i].left = rings[i].hz;
	}
}

void samples_init(void *(*zeroed)(size_t size), void *(*other)(size_t size))
{
	struct serial_index *index = zeroed(n_pcpus * sizeof(index[0]));

	samples_make_rings(0, SAMPLE_RING_WORDS, UINT32_MAX, zeroed);
	for (uint32_t i = 0; i < n_pcpus; i++) {
		rings_of[0][i].limit -= SAMPLE_RING_SPARE;
		samples_set_ring(0, i, other(SAMPLE_RING_WORDS * sizeof(uint64_t)),
		                 &index[i].written, &index[i].taken);
	}
}

/* The limit of vpmu_port_sample() for narrow counters, and no more than `most`. */
static uint64_t at_most(const struct vcpu *vcpu, uint64_t most)
{
	uint64_t limit = BIT(vcpu->vm->pmu_policy.width - 3);

	return most < limit ? most : limit;
}

/* Returns the period for the rate that was asked for: `events` are those since the last sample, a
 * period and any missed ones, and the vcpu had the hart for `ticks` meanwhile. Not inlined, because
 * a fixed period would need more registers. */
static __attribute__((noinline)) uint64_t next_period(struct vcpu *vcpu, struct observer *o,
                                                      uint64_t period, uint64_t events)
{
	uint64_t now;
	uint64_t cpu = vcpu_cpu_time(&vcpu->stats, &now);
	uint64_t ticks = cpu - o->sampled_at;
	uint64_t next = LONGEST, longest = period * GROWS;
	/* As many fraction bits as fit, because a fast clock has many ticks in a period. */
	uint32_t shift = events >> 32 ? 16 : 27;

	o->sampled_at = cpu;
	if (longest > LONGEST)
		longest = LONGEST;
	longest = at_most(vcpu, longest);
	/* Otherwise the result would exceed the limit. */
	if (ticks > o->every / GROWS && events <= LONGEST)
		next = (events << shift) / ticks * o->every >> shift;
	if (next > longest)
		next = longest;
	return next < OBSERVE_LEAST_PERIOD ? OBSERVE_LEAST_PERIOD : next;
}

static uint64_t flags_now(void)
{
	if (vcpu_from_user())
		return SAMPLE_USER;
	return csr_read(CSR_VSSTATUS) & SSTATUS_SIE ? 0 : SAMPLE_MASKED;
}

static inline void fill(uint64_t *words, const struct vcpu *vcpu, const struct observer *o,
                        uint64_t events, uint64_t flags)
{
	words[0] =
	    (uint64_t)o->number << 32 | flags << 24 | (uint64_t)vcpu->id << 16 | SAMPLE_WORDS;
	words[1] = csr_read(CSR_TIME);
	words[2] = csr_read(CSR_SEPC);
	words[3] = csr_read(CSR_VSATP);
	words[4] = events;
	words[5] = o->samples;
}

/* The words that are recorded now are there for the reader. */
static inline void publish(struct sample_ring *ring, uint64_t noted)
{
	ring->noted = noted;
	__atomic_store_n(ring->written, noted, __ATOMIC_RELEASE);
}

/* Adds words that are published later. */
static __attribute__((noinline)) void add(struct sample_ring *ring, const uint64_t *words,
                                          uint64_t n)
{
	uint64_t *to = ring->words, mask = ring->length - 1, at = ring->noted;

	ring->noted = at + n;
	for (const uint64_t *end = words + n; words < end; at++)
		to[at & mask] = *words++;
}

/* Words are overwritten only after the reader has taken them. */
static inline bool has_room(const struct sample_ring *ring, uint32_t depth)
{
	return ring->noted - __atomic_load_n(ring->taken, __ATOMIC_ACQUIRE) <= ring->limit - depth;
}

/* A sample with callers, or one that might begin at the end of the ring and end at its beginning.
 * Not inlined: other samples would need more registers. If the observer's last sample is still due,
 * this one is lost: its period ended with an instruction that HS emulated in the same stay. */
static __attribute__((noinline)) void note_aside(struct vcpu *vcpu, struct observer *o,
                                                 struct sample_ring *ring, uint64_t events)
{
	struct vcpu_chain *c = &vcpu->observers.chain;
	uint32_t n = (uint32_t)(o - vcpu->observers.observer), depth = o->event.depth;

	if (c->due & BIT(n)) {
		o->lost++;
		return;
	}
	fill(c->samples[n], vcpu, o, events, flags_now());
	if (!depth) {
		add(ring, c->samples[n], SAMPLE_WORDS);
		publish(ring, ring->noted);
		return;
	}
	if (!c->due) {
		c->most = 0;
		unwind_begin(&c->unwind, vcpu);
		vcpu_request(vcpu, REQ_CHAINS);
	}
	c->due |= BIT(n);
	if (c->most < depth)
		c->most = depth;
}

/* Records a due sample, whose callers are found. */
static void put_due(struct vcpu *vcpu, struct vcpu_chain *c)
{
	struct observer *o = vcpu->observers.observer;
	struct sample_ring *ring;
	uint64_t *words = c->samples[0], depth;

	for (uint64_t due = c->due; !(due & 1); due >>= 1) {
		words += SAMPLE_WORDS;
		o++;
	}
	ring = &o->rings[vcpu->home->index];
	depth = o->event.depth;
	c->due &= c->due - 1;
	if (!has_room(ring, depth)) {
		o->lost++;
		return;
	}
	if (depth > c->unwind.n) {
		depth = c->unwind.n;
		words[0] |= c->unwind.cut ? SAMPLE_CUT << 24 : 0;
	}
	words[0] += depth;
	add(ring, words, SAMPLE_WORDS);
	add(ring, c->unwind.chain, depth);
	publish(ring, ring->noted);
}

bool samples_go_on(struct vcpu *vcpu)
{
	struct vcpu_chain *c = &vcpu->observers.chain;
	struct pcpu *pcpu = vcpu->home;

	pcpu_account_to(pcpu, vcpu, EXIT_LCOFI);
	pcpu->stay_work |= STAY_WORK_DONE;
	while (c->due) {
		if (unwind_more(&c->unwind, c->most))
			put_due(vcpu, c);
		if (!c->due || csr_read(CSR_INSTRET) - pcpu->last_irq_check < VM_STAY_SHORT)
			continue;
		vcpu_request(vcpu, REQ_CHAINS);
		return false;
	}
	return true;
}

/* Records a sample, or counts it as lost if there is no room. */
static inline void note(struct vcpu *vcpu, struct observer *o, struct sample_ring *ring,
                        uint64_t events)
{
	uint64_t from = ring->noted, *words = ring->words;
	uint32_t length = ring->length, at = from & (length - 1), depth = o->event.depth;

	if (!has_room(ring, depth)) {
		o->lost++;
	} else if (depth || at + SAMPLE_WORDS > length) {
		note_aside(vcpu, o, ring, events);
	} else {
		fill(words + at, vcpu, o, events, flags_now());
		publish(ring, from + SAMPLE_WORDS);
	}
}

/* Whether more samples may be taken, after as many as in a second. */
static __attribute__((noinline)) bool renew(struct sample_ring *ring)
{
	uint64_t now = csr_read(CSR_TIME);

	if (now - ring->since < platform.timebase)
		return false;
	ring->since = now;
	ring->left = ring->hz;
	return true;
}

/* The observer goes on counting, nearly without an end of a period. */
static __attribute__((noinline)) uint64_t stop(const struct vcpu *vcpu, struct observer *o)
{
	o->too_many = true;
	return at_most(vcpu, LONGEST);
}

uint64_t vcpu_sample(struct vcpu *vcpu, uint32_t n, uint64_t period, uint64_t missed)
{
	struct observer *o = &vcpu->observers.observer[n];
	uint64_t events = period * (missed + 1);
	struct sample_ring *ring;

	/* Otherwise the address of each member would be computed from `vcpu`. */
	__asm__("" : "+r"(o));
	ring = &o->rings[vcpu->home->index];
	if (o->too_many || (!ring->left && !renew(ring)))
		return stop(vcpu, o);
	ring->left--;
	o->samples++;
	o->late += missed;
	note(vcpu, o, ring, events);
	return o->every ? next_period(vcpu, o, period, events) : period;
}

bool samples_put(struct sample_ring *rings, uint32_t hart, const uint64_t *words, uint32_t n,
                 uint32_t spare)
{
	struct sample_ring *ring = &rings[hart];
	uint64_t from = ring->noted;

	if (from - __atomic_load_n(ring->taken, __ATOMIC_ACQUIRE) > ring->length - n - spare)
		return false;
	add(ring, words, n);
	publish(ring, ring->noted);
	return true;
}

uint64_t samples_noted(uint32_t hart)
{
	return __atomic_load_n(rings_of[0][hart].written, __ATOMIC_ACQUIRE);
}

bool samples_wait(uint32_t hart)
{
	return samples_noted(hart) != *rings_of[0][hart].taken;
}

uint32_t samples_take(uint32_t hart, uint64_t end, uint64_t *words)
{
	struct sample_ring *ring = &rings_of[0][hart];
	uint64_t at = *ring->taken;
	const uint64_t *from = ring->words;
	uint32_t n;

	if (at == end)
		return 0;
	n = from[at % SAMPLE_RING_WORDS] & 0xff;
	for (end = at + n; at < end; at++)
		*words++ = from[at % SAMPLE_RING_WORDS];
	__atomic_store_n(ring->taken, end, __ATOMIC_RELEASE);
	return n;
}
