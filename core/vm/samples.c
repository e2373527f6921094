/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/samples.h"

#include <stdatomic.h>
#include <string.h>

#include "arch/riscv/csr.h"
#include "core/vm/unwind.h"
#include "core/vm/vcpu.h"

/* In turns of one cache line, so that a hart that notes shares none with the one that takes. */
struct ring {
	atomic_ulong noted __attribute__((aligned(64))); /* words since boot; its own hart's */
	uint64_t *words;
	atomic_ulong taken __attribute__((aligned(64))); /* the boot hart's */
};

static struct ring *rings; /* [n_pcpus] */

/* A period grows at most so many times from one sample to the next, and stays within these. */
#define GROWS   16U
#define LONGEST (UINT64_C(1) << 40)

void samples_init(void *(*zeroed)(size_t size), void *(*other)(size_t size))
{
	rings = zeroed(n_pcpus * sizeof(rings[0]));
	for (uint32_t i = 0; i < n_pcpus; i++)
		rings[i].words = other(SAMPLE_RING_WORDS * sizeof(uint64_t));
}

/* By what rate of samples was wanted, and how long the vcpu had the hart for the last period. */
static uint64_t next_period(struct vcpu *vcpu, struct observer *o, uint64_t period)
{
	uint64_t now;
	uint64_t cpu = vcpu_fw_cpu(&vcpu->fw, &now);
	uint64_t ticks = cpu - o->sampled_at;
	uint64_t next = period * GROWS;

	o->sampled_at = cpu;
	/* Otherwise it would grow more. */
	if (ticks > o->every / GROWS)
		next = (period << 16) / ticks * o->every >> 16;
	if (next > LONGEST)
		next = LONGEST;
	return next < OBSERVE_LEAST_PERIOD ? OBSERVE_LEAST_PERIOD : next;
}

static uint64_t flags_now(void)
{
	if (vcpu_from_user())
		return SAMPLE_USER;
	return csr_read(CSR_VSSTATUS) & SSTATUS_SIE ? 0 : SAMPLE_MASKED;
}

static void put(struct ring *ring, uint64_t at, const uint64_t *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		ring->words[(at + i) % SAMPLE_RING_WORDS] = words[i];
}

/* Notes a sample with a chain of n, or counts it as lost if there is no room. */
static void note(struct ring *ring, struct observer *o, uint64_t words[SAMPLE_WORDS],
                 const uint64_t *chain, uint32_t n)
{
	uint64_t at = atomic_load_explicit(&ring->noted, memory_order_relaxed);
	uint32_t length = SAMPLE_WORDS + n;

	/* Not before the words were taken that these replace. */
	if (at - atomic_load_explicit(&ring->taken, memory_order_acquire) >
	    SAMPLE_RING_WORDS - length) {
		o->lost++;
		return;
	}
	words[0] |= length;
	put(ring, at, words, SAMPLE_WORDS);
	put(ring, at + SAMPLE_WORDS, chain, n);
	atomic_store_explicit(&ring->noted, at + length, memory_order_release);
}

/* Not inlined, because a sample without them would need more stack. */
static __attribute__((noinline)) void note_with_callers(struct ring *ring, const struct vcpu *vcpu,
                                                        struct observer *o,
                                                        uint64_t words[SAMPLE_WORDS])
{
	uint64_t chain[UNWIND_MOST];
	bool user = words[0] >> 24 & SAMPLE_USER;

	note(ring, o, words, chain, unwind(vcpu, vcpu->ctx.x[REG_S0], user, chain, o->event.depth));
}

uint64_t vcpu_sampled(struct vcpu *vcpu, uint32_t n, uint64_t period, uint64_t missed)
{
	struct observer *o = &vcpu->observers.observer[n];
	struct ring *ring = &rings[vcpu->home->index];
	uint64_t words[SAMPLE_WORDS] = {
	    (uint64_t)o->number << 32 | flags_now() << 24 | (uint64_t)vcpu->id << 16,
	    csr_read(CSR_TIME),
	    csr_read(CSR_SEPC),
	    csr_read(CSR_VSATP),
	    period * (missed + 1),
	    ++o->samples,
	};

	o->late += missed;
	if (o->event.depth)
		note_with_callers(ring, vcpu, o, words);
	else
		note(ring, o, words, NULL, 0);
	return o->every ? next_period(vcpu, o, period) : period;
}

uint64_t samples_noted(uint32_t hart)
{
	return atomic_load_explicit(&rings[hart].noted, memory_order_acquire);
}

uint32_t samples_take(uint32_t hart, uint64_t end, uint64_t *words, uint32_t most)
{
	struct ring *ring = &rings[hart];
	uint64_t at = atomic_load_explicit(&ring->taken, memory_order_relaxed);
	uint32_t n = end - at < most ? (uint32_t)(end - at) : most;

	for (uint32_t i = 0; i < n; i++)
		words[i] = ring->words[(at + i) % SAMPLE_RING_WORDS];
	atomic_store_explicit(&ring->taken, at + n, memory_order_release);
	return n;
}
