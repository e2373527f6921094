/* SPDX-License-Identifier: Apache-2.0 */
#include "core/watch/samples.h"

#include <stdatomic.h>
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/vcpu/unwind.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"

/* The members that the hart writes and those that the boot hart writes are in different cache
 * lines. */
struct ring {
	atomic_ulong noted __attribute__((aligned(64))); /* words since boot; by its own hart */
	uint64_t *words; /* with room for a sample that begins at the end */
	/* The call chain of `callers_of` at one exit, which several samples share. */
	uint64_t *callers;
	const struct vcpu *callers_of;
	uint32_t n_callers;                              /* with UNWIND_CUT */
	atomic_ulong taken __attribute__((aligned(64))); /* by the boot hart */
};

static struct ring *rings; /* [n_pcpus] */

/* Limits of a period: its growth from one sample to the next, and its length. */
#define GROWS   16U
#define LONGEST (UINT64_C(1) << 40)

void samples_init(void *(*zeroed)(size_t size), void *(*other)(size_t size))
{
	rings = zeroed(n_pcpus * sizeof(rings[0]));
	for (uint32_t i = 0; i < n_pcpus; i++) {
		rings[i].words =
		    other((SAMPLE_RING_WORDS + SAMPLE_WORDS + 2 * UNWIND_MOST) * sizeof(uint64_t));
		rings[i].callers = rings[i].words + SAMPLE_RING_WORDS + SAMPLE_WORDS + UNWIND_MOST;
	}
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
	/* The limit of vpmu_port_sample() for narrow counters. */
	if (longest >> (vcpu->vm->pmu_policy.width - 3))
		longest = BIT(vcpu->vm->pmu_policy.width - 3);
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

/* Copies the words that were written beyond the end of the ring to its beginning. */
static __attribute__((noinline)) void turn(struct ring *ring, uint64_t beyond)
{
	memcpy(ring->words, ring->words + SAMPLE_RING_WORDS, beyond * sizeof(uint64_t));
}

/* Several observers of a vcpu may have the end of a period at one exit. They share one call chain:
 * to find it eight times would make the stay too long. */
static __attribute__((noinline)) uint32_t add_same_callers(struct vcpu *vcpu, struct ring *ring,
                                                           uint32_t depth, uint64_t flags,
                                                           uint64_t *chain)
{
	if (vcpu->ctx.callers != ring->callers || ring->callers_of != vcpu) {
		ring->n_callers = unwind(vcpu, vcpu->ctx.x[REG_S0], flags & SAMPLE_USER,
		                         ring->callers, UNWIND_MOST);
		ring->callers_of = vcpu;
		vcpu->ctx.callers = ring->callers;
	}
	if (depth > (ring->n_callers & ~UNWIND_CUT))
		depth = ring->n_callers;
	memcpy(chain, ring->callers, (depth & ~UNWIND_CUT) * sizeof(chain[0]));
	return depth;
}

/* Returns the same as unwind(). */
static uint32_t add_callers(struct vcpu *vcpu, struct ring *ring, uint32_t depth, uint64_t flags,
                            uint64_t *chain)
{
	if (vcpu->observers.chains > 1)
		return add_same_callers(vcpu, ring, depth, flags, chain);
	return unwind(vcpu, vcpu->ctx.x[REG_S0], flags & SAMPLE_USER, chain, depth);
}

/* Records a sample, or counts it as lost if there is no room. */
static void note(struct vcpu *vcpu, struct observer *o, uint64_t events)
{
	struct ring *ring = &rings[vcpu->home->index];
	uint64_t from = atomic_load_explicit(&ring->noted, memory_order_relaxed);
	uint64_t at = from % SAMPLE_RING_WORDS, flags = flags_now();
	uint64_t *words = ring->words + at;
	uint32_t n = SAMPLE_WORDS;

	/* Words are overwritten only after the boot hart has taken them. */
	if (from - atomic_load_explicit(&ring->taken, memory_order_acquire) >
	    SAMPLE_RING_WORDS - SAMPLE_RING_SPARE - SAMPLE_WORDS - o->event.depth) {
		o->lost++;
		return;
	}
	words[1] = csr_read(CSR_TIME);
	words[2] = csr_read(CSR_SEPC);
	words[3] = csr_read(CSR_VSATP);
	words[4] = events;
	words[5] = o->samples;
	if (o->event.depth) {
		uint32_t found =
		    add_callers(vcpu, ring, o->event.depth, flags, words + SAMPLE_WORDS);

		n += found & ~UNWIND_CUT;
		flags |= found & UNWIND_CUT ? SAMPLE_CUT : 0;
	}
	words[0] = (uint64_t)o->number << 32 | flags << 24 | (uint64_t)vcpu->id << 16 | n;
	if (at + n > SAMPLE_RING_WORDS)
		turn(ring, at + n - SAMPLE_RING_WORDS);
	atomic_store_explicit(&ring->noted, from + n, memory_order_release);
}

uint64_t vcpu_sample(struct vcpu *vcpu, uint32_t n, uint64_t period, uint64_t missed)
{
	struct observer *o = &vcpu->observers.observer[n];

	o->samples++;
	o->late += missed;
	note(vcpu, o, period * (missed + 1));
	return o->every ? next_period(vcpu, o, period, period * (missed + 1)) : period;
}

bool samples_put(uint32_t hart, const uint64_t *words, uint32_t n, uint32_t spare)
{
	struct ring *ring = &rings[hart];
	uint64_t from = atomic_load_explicit(&ring->noted, memory_order_relaxed);

	if (from - atomic_load_explicit(&ring->taken, memory_order_acquire) >
	    SAMPLE_RING_WORDS - n - spare)
		return false;
	for (uint32_t i = 0; i < n; i++)
		ring->words[(from + i) % SAMPLE_RING_WORDS] = words[i];
	atomic_store_explicit(&ring->noted, from + n, memory_order_release);
	return true;
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
