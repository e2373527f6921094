/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/samples.h"

#include <stdatomic.h>
#include <string.h>

#include "arch/riscv/csr.h"
#include "core/vm/unwind.h"
#include "core/vm/vcpu.h"

/* A sample whose chain of callers is not known yet: on the fast paths of an exit, most of the
 * guest's registers are wherever the compiler has put them. */
struct waiting {
	struct vcpu *vcpu;
	uint32_t n; /* the observer */
	uint64_t words[SAMPLE_WORDS];
};

/* In turns of one cache line, so that a hart that notes shares none with the one that takes. */
struct ring {
	atomic_ulong noted __attribute__((aligned(64))); /* words since boot; its own hart's */
	uint64_t *words;
	struct waiting waiting[VPMU_OBSERVERS];
	uint32_t n_waiting;
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

static void note_with_callers(struct ring *ring, struct vcpu *vcpu, uint32_t n,
                              uint64_t words[SAMPLE_WORDS])
{
	struct observer *o = &vcpu->observers.observer[n];
	uint64_t chain[UNWIND_MOST];

	note(
	    ring, o, words, chain,
	    unwind(vcpu, vcpu->ctx.x[REG_S0], words[0] >> 24 & SAMPLE_USER, chain, o->event.depth));
}

/* The registers of a vcpu that leaves its hart are in its context; those of another one are when
 * sched_next() is called next. */
static __attribute__((noinline)) void find_callers(struct ring *ring, struct vcpu *vcpu, uint32_t n,
                                                   uint64_t words[SAMPLE_WORDS])
{
	struct waiting *w = &ring->waiting[ring->n_waiting];

	if (vcpu_fw_has_left(&vcpu->fw)) {
		note_with_callers(ring, vcpu, n, words);
		return;
	}
	if (ring->n_waiting == ARRAY_SIZE(ring->waiting)) {
		note(ring, &vcpu->observers.observer[n], words, NULL, 0);
		return;
	}
	w->vcpu = vcpu;
	w->n = n;
	memcpy(w->words, words, sizeof(w->words));
	ring->n_waiting++;
	vcpu->home->samples_wait = true;
	pcpu_resched(vcpu->home);
}

void samples_find_callers(struct pcpu *pcpu)
{
	struct ring *ring = &rings[pcpu->index];

	pcpu->samples_wait = false;
	while (ring->n_waiting) {
		struct waiting *w = &ring->waiting[--ring->n_waiting];

		/* One that has ended meanwhile has no registers any more. */
		if (w->vcpu == pcpu->current)
			note_with_callers(ring, w->vcpu, w->n, w->words);
		else
			note(ring, &w->vcpu->observers.observer[w->n], w->words, NULL, 0);
	}
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
		find_callers(ring, vcpu, n, words);
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
