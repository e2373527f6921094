/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of samples (core/watch/samples.h): what is noted is taken once and in order, or counted as
 * lost; and the periods of who samples at a rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/vcpu/stay.h"
#include "core/vcpu/unwind.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"
#include "core/watch/samples.h"
#include "tests/host/chance.h"

#define MHZ 1000000U

uint64_t host_csrs[4096];
uint32_t n_pcpus = 1;
struct platform platform = {.timebase = MHZ};

static struct vm vm;
static struct pcpu pcpu;
static struct vcpu vcpu = {.vm = &vm, .home = &pcpu, .id = 5};
static struct observer *const observer = &vcpu.observers.observer[2];
static struct chance luck;
static uint32_t callers; /* that there are */
static bool cut;         /* at a word that is no code */

static uint32_t pieces; /* of the chain that is found */
static bool requested;  /* REQ_CHAINS */
static uint64_t place;  /* where the chain was begun */

void unwind_begin(struct unwind *u, const struct vcpu *of)
{
	assert_ptr_equal(of, &vcpu);
	u->n = 0;
	u->ended = u->cut = false;
	place = host_csrs[CSR_SEPC];
	pieces = 0;
}

/* At most ten a piece. */
bool unwind_more(struct unwind *u, uint64_t most)
{
	uint64_t stop = u->n + 10;

	pieces++;
	for (; !u->ended && u->n < most && u->n < stop; u->n++) {
		if (u->n == callers) {
			u->ended = true;
			u->cut = cut;
			break;
		}
		u->chain[u->n] = place + u->n + 1;
	}
	return u->ended || u->n >= most;
}

void vcpu_request(struct vcpu *of, uint64_t what)
{
	assert_ptr_equal(of, &vcpu);
	assert_int_equal(what, REQ_CHAINS);
	assert_false(requested);
	requested = true;
}

void pcpu_account_to(struct pcpu *of, struct vcpu *to, enum vcpu_exit why)
{
	assert_ptr_equal(of, &pcpu);
	assert_ptr_equal(to, &vcpu);
	assert_int_equal(why, EXIT_LCOFI);
}

/* Serves the request in stays that are as short as they can be, or so long. Returns how many. */
static uint32_t serve(uint64_t length)
{
	uint32_t stays = 0;

	while (requested) {
		uint64_t due = vcpu.observers.chain.due;
		bool whole;

		assert_int_not_equal(due, 0);
		requested = false;
		pcpu.last_irq_check = host_csrs[CSR_INSTRET] - length;
		pcpu.stay_work = 0;
		whole = samples_go_on(&vcpu);
		assert_int_equal(whole, !vcpu.observers.chain.due);
		assert_int_equal(pcpu.stay_work, STAY_WORK_DONE);
		assert_int_equal(requested, vcpu.observers.chain.due != 0);
		if (length)
			assert_true(!(due & (due - 1)) || requested);
		stays++;
	}
	assert_int_equal(vcpu.observers.chain.due, 0);
	return stays;
}

#define ALLOCATIONS 8U
static void *allocated[ALLOCATIONS];
static uint32_t n_allocated;

static void *other(size_t size)
{
	assert_true(n_allocated < ALLOCATIONS);
	allocated[n_allocated] = aligned_alloc(64, (size + 63) / 64 * 64);
	return allocated[n_allocated++];
}

static void *zeroed(size_t size)
{
	return memset(other(size), 0, size);
}

static int teardown(void **state)
{
	(void)state;
	while (n_allocated)
		free(allocated[--n_allocated]);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	samples_init(zeroed, other);
	vm.pmu_policy.width = 64;
	vcpu.observers = (struct vcpu_observers){.n = 1};
	requested = false;
	*observer = (struct observer){.number = 7, .rings = samples_rings(0)};
	host_csrs[CSR_TIME] = 1;
	luck = (struct chance){chance_mix(1)};
	return 0;
}

/* --- the ring ------------------------------------------------------------------------------- */

/* What has not been taken. */
static uint64_t expected[2 * SAMPLE_RING_WORDS];
static uint64_t noted, taken;

static void expect(uint64_t word)
{
	expected[noted++ % (2 * SAMPLE_RING_WORDS)] = word;
}

static void sample(void)
{
	uint64_t lost = observer->lost;
	uint32_t depth = observer->event.depth, n = callers < depth ? callers : depth;
	uint64_t flags;

	host_csrs[CSR_TIME] += 1 + below(&luck, 1000);
	host_csrs[CSR_SEPC] = chance(&luck);
	host_csrs[CSR_VSATP] = chance(&luck);
	host_csrs[CSR_SSTATUS] = below(&luck, 2) ? SSTATUS_SPP : 0;
	host_csrs[CSR_VSSTATUS] = below(&luck, 2) ? SSTATUS_SIE : 0;
	assert_int_equal(vcpu_sample(&vcpu, 2, 1000, 2), 1000);
	assert_int_equal(requested, depth && observer->lost == lost);
	(void)serve(below(&luck, 2) * VM_STAY_SHORT);
	if (observer->lost != lost) {
		/* There was no room for the longest that it might have been. */
		assert_true(noted - taken + SAMPLE_WORDS + depth + SAMPLE_RING_SPARE >
		            SAMPLE_RING_WORDS);
		return;
	}
	flags = !(host_csrs[CSR_SSTATUS] & SSTATUS_SPP) ? SAMPLE_USER
	        : host_csrs[CSR_VSSTATUS] & SSTATUS_SIE ? 0
	                                                : SAMPLE_MASKED;
	if (cut && n < depth)
		flags |= SAMPLE_CUT;
	expect(7UL << 32 | flags << 24 | 5 << 16 | (SAMPLE_WORDS + n));
	expect(host_csrs[CSR_TIME]);
	expect(host_csrs[CSR_SEPC]);
	expect(host_csrs[CSR_VSATP]);
	expect(3000);
	expect(observer->samples);
	for (uint32_t i = 0; i < n; i++)
		expect(host_csrs[CSR_SEPC] + i + 1);
}

static void put(uint32_t spare)
{
	uint64_t words[7];
	uint32_t n = 2 + below(&luck, 6);

	for (uint32_t i = 0; i < n; i++)
		words[i] = chance(&luck);
	words[0] = (words[0] & ~0xffUL) | n;
	if (!samples_put(samples_rings(0), 0, words, n, spare)) {
		assert_true(noted - taken + n + spare > SAMPLE_RING_WORDS);
		return;
	}
	assert_true(noted - taken + n + spare <= SAMPLE_RING_WORDS);
	for (uint32_t i = 0; i < n; i++)
		expect(words[i]);
}

/* The oldest records, whole. */
static void take(uint64_t end)
{
	uint64_t words[SAMPLE_RECORD_MOST];
	uint32_t n = 1;

	for (uint32_t most = 1 + below(&luck, 4); n && most; most--) {
		n = samples_take(0, end, words);
		assert_true(n ? taken + n <= end : taken == end);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(words[i], expected[taken++ % (2 * SAMPLE_RING_WORDS)]);
	}
}

static void test_ring(void **state)
{
	uint64_t all = 0;

	(void)state;
	noted = taken = 0;
	for (uint32_t i = 0; i < 300000; i++) {
		/* It fills, and is emptied; sometimes to the end. */
		bool fills = i % 20000 < 15000;

		observer->event.depth =
		    below(&luck, 2) ? (uint16_t)below(&luck, UNWIND_MOST + 1) : 0;
		callers = below(&luck, UNWIND_MOST + 1);
		cut = below(&luck, 2);
		all++;
		if (below(&luck, 3))
			sample();
		else
			put(below(&luck, 8) ? SAMPLE_RING_SPARE : 0), all--;
		assert_int_equal(samples_noted(0), noted);
		assert_true(noted - taken <= SAMPLE_RING_WORDS);
		if (!fills || !below(&luck, 8))
			take(noted);
	}
	assert_true(noted > 50 * SAMPLE_RING_WORDS && observer->lost > 1000);
	assert_int_equal(observer->samples, all);
	assert_int_equal(observer->late, 2 * all);
}

static void one(uint32_t n, uint32_t depth)
{
	struct observer *o = &vcpu.observers.observer[n];

	*o = (struct observer){.number = 100 + n, .rings = samples_rings(0)};
	o->event.depth = (uint16_t)depth;
	(void)vcpu_sample(&vcpu, n, 1000, 0);
}

static void took(uint32_t n, uint32_t depth, uint64_t at)
{
	uint64_t words[SAMPLE_WORDS + UNWIND_MOST];
	uint32_t there = depth < callers ? depth : callers;

	assert_int_equal(samples_take(0, samples_noted(0), words), SAMPLE_WORDS + there);
	assert_int_equal(words[0] >> 32, 100 + n);
	assert_int_equal(words[0] & 0xff, SAMPLE_WORDS + there);
	assert_int_equal(words[0] >> 24 & SAMPLE_CUT, depth > callers ? SAMPLE_CUT : 0);
	assert_int_equal(words[2], at);
	for (uint32_t k = 0; k < there; k++)
		assert_int_equal(words[SAMPLE_WORDS + k], place + k + 1);
}

/* Those of one exit share a chain, which is as long as the longest of them, and each has no more
 * than it wants. In long stays there is one piece of the chain, or its end with one sample. */
static void test_same_callers(void **state)
{
	static const uint32_t depths[] = {3, 64, 40, 1, 0, 64, 17, 10};
	static const uint64_t lengths[] = {0, VM_STAY_SHORT};

	(void)state;
	callers = 50;
	cut = true;
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t at = host_csrs[CSR_SEPC] = 1000 * i;

		for (uint32_t n = 0; n < 8; n++) {
			one(n, depths[n]);
			/* The one without callers is in the ring. */
			assert_int_equal(vcpu.observers.chain.due,
			                 ((2U << n) - 1) & ~(n < 4 ? 0 : 16U));
		}
		took(4, 0, at);
		host_csrs[CSR_SEPC] += 500;
		host_csrs[CSR_TIME] += 7;
		assert_int_equal(serve(lengths[i]), i ? 5 + 7 : 1);
		for (uint32_t n = 0; n < 8; n++)
			if (n != 4)
				took(n, depths[n], at);
	}
}

/* A second sample of an observer whose first one is due, one that finds no room in the end, and
 * those of a life that ends. */
static void test_due(void **state)
{
	uint64_t words[SAMPLE_RECORD_MOST] = {0};
	uint32_t n = 0;

	(void)state;
	callers = 30;
	cut = false;
	one(1, 64);
	(void)vcpu_sample(&vcpu, 1, 1000, 0);
	assert_int_equal(vcpu.observers.observer[1].samples, 2);
	assert_int_equal(vcpu.observers.observer[1].lost, 1);
	(void)serve(0);
	took(1, 30, host_csrs[CSR_SEPC]);
	assert_int_equal(samples_take(0, samples_noted(0), words), 0);

	/* Others fill the ring meanwhile. */
	one(1, 30);
	words[0] = 64;
	while (samples_put(samples_rings(0), 0, words, 64, SAMPLE_RING_SPARE))
		n++;
	(void)serve(VM_STAY_SHORT);
	assert_int_equal(vcpu.observers.observer[1].lost, 1);
	while (samples_take(0, samples_noted(0), words))
		n--;
	assert_int_equal(n, 0);

	/* vcpu_end_observers() */
	one(1, 64);
	vcpu.observers.chain.unwind.ended = true;
	assert_int_equal(serve(0), 1);
	callers = 0;
	took(1, 0, host_csrs[CSR_SEPC]);
}

/* --- an operator's ring ------------------------------------------------------------------------
 */

#define LENGTH 64U /* words */
#define HZ     500U

static uint64_t of_client[LENGTH], written, read_so_far;

static void client_begins(void)
{
	samples_make_rings(3, LENGTH, HZ, zeroed);
	samples_set_ring(3, 0, of_client, &written, &read_so_far);
	written = read_so_far = 0;
	samples_forget(3);
	*observer = (struct observer){.number = 3 << 24 | 7, .rings = samples_rings(3)};
	host_csrs[CSR_TIME] = 1;
}

static uint64_t sample_now(uint32_t depth)
{
	uint64_t next;

	observer->event.depth = (uint16_t)depth;
	next = vcpu_sample(&vcpu, 2, 1000, 0);
	(void)serve(0);
	return next;
}

/* Whatever the guest's index is, Tally writes into the ring alone, whole samples, in their order.
 */
static void test_any_index(void **state)
{
	uint64_t before = 0, lost = 0;

	(void)state;
	client_begins();
	assert_null(samples_rings(4));
	assert_ptr_equal(samples_rings(3), observer->rings);
	for (uint32_t i = 0; i < 100000; i++) {
		uint64_t n, was = written, free = below(&luck, LENGTH + 1);

		host_csrs[CSR_TIME] += MHZ; /* so that there are never too many */
		callers = below(&luck, UNWIND_MOST + 1);
		n = below(&luck, 3) ? 0 : below(&luck, 40);
		read_so_far = below(&luck, 4) ? was - LENGTH + free : chance(&luck);
		free = LENGTH - (was - read_so_far);
		(void)sample_now((uint32_t)n);
		if (was - read_so_far > LENGTH || free < SAMPLE_WORDS + n) {
			assert_int_equal(written, was);
			assert_int_equal(observer->lost, ++lost);
			continue;
		}
		n = SAMPLE_WORDS + (callers < n ? callers : n);
		assert_int_equal(written, was + n);
		assert_int_equal(of_client[was % LENGTH] & 0xff, n);
		assert_int_equal(of_client[was % LENGTH] >> 32, 3 << 24 | 7);
		assert_int_equal(of_client[(was + 2) % LENGTH], host_csrs[CSR_SEPC]);
		assert_true(of_client[(was + 5) % LENGTH] > before);
		before = of_client[(was + 5) % LENGTH];
		if (n > SAMPLE_WORDS)
			assert_int_equal(of_client[(was + n - 1) % LENGTH],
			                 host_csrs[CSR_SEPC] + n - SAMPLE_WORDS);
	}
	assert_int_equal(samples_noted(0), 0);
	assert_true(lost > 1000 && before > 50000);
}

/* Records of a trace are in it like samples, however its reader behaves. */
static void test_records(void **state)
{
	uint64_t words[7];

	(void)state;
	client_begins();
	for (uint32_t i = 0; i < 10000; i++) {
		uint32_t n = 2 + below(&luck, 6), spare = below(&luck, 20);
		uint64_t was = written, free = below(&luck, LENGTH + 1);

		read_so_far = below(&luck, 4) ? was - LENGTH + free : chance(&luck);
		free = LENGTH - (was - read_so_far);
		for (uint32_t k = 0; k < n; k++)
			words[k] = chance(&luck);
		if (was - read_so_far > LENGTH || free < n + spare) {
			assert_false(samples_put(samples_rings(3), 0, words, n, spare));
			assert_int_equal(written, was);
			continue;
		}
		assert_true(samples_put(samples_rings(3), 0, words, n, spare));
		assert_int_equal(written, was + n);
		for (uint32_t k = 0; k < n; k++)
			assert_int_equal(of_client[(was + k) % LENGTH], words[k]);
	}
	assert_int_equal(samples_noted(0), 0);
	assert_true(written > 10000);
}

/* No more than HZ in a second; then its period is as long as it can be, for good. */
static void test_too_many(void **state)
{
	(void)state;
	client_begins();
	host_csrs[CSR_TIME] = 5 * MHZ;
	for (uint32_t i = 0; i < 4 * HZ; i++) {
		assert_int_equal(sample_now(0), 1000);
		read_so_far = written;
		/* As fast as is allowed. */
		host_csrs[CSR_TIME] += MHZ / HZ;
	}
	assert_false(observer->too_many);
	for (uint32_t i = 0; sample_now(0) == 1000; i++) {
		assert_true(i < HZ);
		read_so_far = written;
		host_csrs[CSR_TIME] += MHZ / HZ - 1;
	}
	assert_true(observer->too_many);
	host_csrs[CSR_TIME] += 10 * MHZ;
	assert_true(sample_now(0) >= UINT64_C(1) << 40);
	assert_int_equal(written, SAMPLE_WORDS * observer->samples);
	/* Another one may go on then. */
	*observer = (struct observer){.number = 3 << 24 | 8, .rings = samples_rings(3)};
	assert_int_equal(sample_now(0), 1000);
	/* And what is left of the life is forgotten. */
	written = read_so_far = 0;
	samples_forget(3);
	assert_int_equal(sample_now(0), 1000);
	assert_int_equal(written, SAMPLE_WORDS);
	assert_int_equal(of_client[0] >> 32, 3 << 24 | 8);
}

/* --- rates ---------------------------------------------------------------------------------- */

/* The period that comes of it when so many events happen in a second. */
static uint64_t settled(uint64_t timebase, uint64_t hz, uint64_t events)
{
	uint64_t period = 1000, before;
	double time = 1;

	host_csrs[CSR_TIME] = 1;
	vcpu.stats.cpu_ticks = -1;
	observer->event.depth = 0;
	observer->every = timebase / hz;
	observer->sampled_at = 0;
	for (uint32_t i = 0; i < 100; i++) {
		time += (double)period * (double)timebase / (double)events;
		host_csrs[CSR_TIME] = (uint64_t)time;
		before = period;
		period = vcpu_sample(&vcpu, 2, period, 0);
		assert_true(period <= 16 * before && period >= OBSERVE_LEAST_PERIOD);
	}
	return period;
}

/* As many as were wanted, to 2 %, and the same from one to the next, on clocks of all kinds. */
static void test_rates(void **state)
{
	static const uint64_t timebases[] = {1 * MHZ, 10 * MHZ, 100 * MHZ, 1000 * MHZ,
	                                     4000UL * MHZ};
	static const uint64_t rates[] = {1, 10, 1000, 10000};

	(void)state;
	for (uint32_t t = 0; t < sizeof(timebases) / sizeof(timebases[0]); t++) {
		for (uint32_t r = 0; r < sizeof(rates) / sizeof(rates[0]); r++) {
			for (uint64_t events = 1000 * rates[r]; events < 10000UL * MHZ;
			     events *= 7) {
				double wanted = (double)events / (double)rates[r];
				double period = (double)settled(timebases[t], rates[r], events);

				if (period < 0.98 * wanted || period > 1.02 * wanted)
					fail_msg("%.0f instead of %.0f at %lu", period, wanted,
					         timebases[t]);
			}
		}
	}
}

/* Some periods were over before the sample was taken: the time was that of all of them. */
static void test_late(void **state)
{
	(void)state;
	vcpu.stats.cpu_ticks = -1;
	observer->every = 10000;
	/* Four periods of 100 in a tenth of the time, and the most that the next one may have. */
	host_csrs[CSR_TIME] = 1 + 1000;
	assert_int_equal(vcpu_sample(&vcpu, 2, 100, 3), 1600);
	/* In half of it. */
	host_csrs[CSR_TIME] += 5000;
	assert_in_range(vcpu_sample(&vcpu, 2, 100, 3), 799, 800);
	/* In twice that. */
	host_csrs[CSR_TIME] += 20000;
	assert_in_range(vcpu_sample(&vcpu, 2, 1000, 3), 1999, 2000);
	assert_in_range(vcpu_sample(&vcpu, 2, 1UL << 40, 1UL << 20), 100, 1UL << 40);
	assert_int_equal(observer->late, 9 + (1UL << 20));
}

/* Events that hardly happen, or always. */
static void test_limits(void **state)
{
	(void)state;
	assert_int_equal(settled(10 * MHZ, 1000, 1000), OBSERVE_LEAST_PERIOD);
	assert_int_equal(settled(10 * MHZ, 1, 1UL << 50), 1UL << 40);
	vm.pmu_policy.width = 32;
	assert_int_equal(settled(10 * MHZ, 1, 1UL << 50), 1UL << 29);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_ring, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_same_callers, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_due, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_any_index, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_records, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_too_many, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_rates, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_late, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
