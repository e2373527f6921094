/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/samples.h"

#include <stdatomic.h>

#include "arch/riscv/csr.h"
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

/* Returns false if there is no room. */
static bool note(const struct vcpu *vcpu, const struct observer *o, uint64_t events)
{
	struct ring *ring = &rings[vcpu->home->index];
	uint64_t at = atomic_load_explicit(&ring->noted, memory_order_relaxed);
	const uint64_t sample[SAMPLE_WORDS] = {
	    (uint64_t)o->number << 32 | flags_now() << 24 | (uint64_t)vcpu->id << 16 | SAMPLE_WORDS,
	    csr_read(CSR_TIME),
	    csr_read(CSR_SEPC),
	    csr_read(CSR_VSATP),
	    events,
	    o->samples,
	};

	/* Not before the words were taken that these replace. */
	if (at - atomic_load_explicit(&ring->taken, memory_order_acquire) >
	    SAMPLE_RING_WORDS - SAMPLE_WORDS)
		return false;
	for (uint32_t i = 0; i < SAMPLE_WORDS; i++)
		ring->words[(at + i) % SAMPLE_RING_WORDS] = sample[i];
	atomic_store_explicit(&ring->noted, at + SAMPLE_WORDS, memory_order_release);
	return true;
}

uint64_t vcpu_sampled(struct vcpu *vcpu, uint32_t n, uint64_t period, uint64_t missed)
{
	struct observer *o = &vcpu->observers.observer[n];

	o->samples++;
	o->late += missed;
	if (!note(vcpu, o, period * (missed + 1)))
		o->lost++;
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
