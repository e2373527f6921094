/* SPDX-License-Identifier: Apache-2.0 */
/* The moment at which several harts read counters (core/watch/observe_request.c): no hart waits for
 * it, and each reads all of its vcpus then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/vcpu/vcpu.h"
#include "core/watch/account.h"
#include "core/watch/observe.h"
#include "core/watch/stays.h"

#define HARTS    2U
#define VCPUS    4U /* those with even numbers on hart 0 */
#define TIMEBASE 10000000U
#define MOMENT   (TIMEBASE / 20000)
#define NEVER    (~0UL)

uint64_t host_csrs[4096];
struct platform platform = {.timebase = TIMEBASE};

static struct pcpu harts[HARTS];
static struct vcpu vcpus[VCPUS];
static uint32_t here;
static uint64_t poll_at[HARTS];
static uint64_t asked; /* vcpus with REQ_OBSERVE */
static uint64_t read_at[VCPUS];
static uint32_t ended, reads;

struct pcpu *this_pcpu(void)
{
	return &harts[here];
}

void host_wfi(void)
{
	fail_msg("a hart waits");
	abort();
}

void host_fence(void)
{
}

void external_poll_at(enum external_kind what, uint64_t time)
{
	assert_int_equal(what, EXTERNAL_OBSERVE);
	poll_at[here] = time;
}

void vcpu_request(struct vcpu *vcpu, uint64_t what)
{
	assert_int_equal(what, REQ_OBSERVE);
	asked |= vcpu->bit;
}

void pcpu_interrupt(struct pcpu *pcpu, uint64_t of)
{
	assert_ptr_equal(pcpu, this_pcpu());
	for (uint32_t i = 0; i < VCPUS; i++)
		assert_true(!(of & BIT(i)) || vcpus[i].requests.pending & REQ_OBSERVE);
	asked |= of;
}

void vcpu_take_samples(struct vcpu *vcpu)
{
	assert_ptr_equal(vcpu->home, this_pcpu());
}

void observer_read(struct vcpu *vcpu, uint32_t n, uint64_t now)
{
	if (!vcpu->observers.observer[n].number)
		return;
	assert_int_equal(read_at[vcpu->index], 0);
	read_at[vcpu->index] = now;
	reads++;
}

void observer_begin(struct vcpu *vcpu, uint32_t number, const struct observed_event *event)
{
	vcpu->observers.observer[0] = (struct observer){.number = number, .event = *event};
}

void observer_end(struct vcpu *vcpu, uint32_t n)
{
	assert_ptr_equal(vcpu->home, this_pcpu());
	vcpu->observers.observer[n].number = 0;
	ended++;
}

void account_copy(const struct vcpu *vcpu)
{
	(void)vcpu;
	abort();
}

void stays_begin(struct vcpu *vcpu)
{
	(void)vcpu;
	abort();
}

void stays_end(struct vcpu *vcpu)
{
	(void)vcpu;
	abort();
}

static int setup(void **state)
{
	(void)state;
	memset(vcpus, 0, sizeof(vcpus));
	memset(read_at, 0, sizeof(read_at));
	asked = 0;
	host_csrs[CSR_TIME] = 1000;
	for (uint32_t i = 0; i < VCPUS; i++) {
		vcpus[i].index = i;
		vcpus[i].bit = BIT(i);
		vcpus[i].home = &harts[i % HARTS];
		vcpus[i].observers.observer[0].number = 7;
		for (uint32_t k = 0; k < HARTS; k++)
			harts[k].vcpus[i] = &vcpus[i];
	}
	for (uint32_t k = 0; k < HARTS; k++) {
		harts[k].index = k;
		harts[k].current = harts[k].stay_vcpu = NULL;
		poll_at[k] = NEVER;
	}
	return 0;
}

static void post_this(enum observe_what what, uint64_t which)
{
	here = 0;
	asked = 0;
	observe_post(what, which);
	assert_int_equal(asked, which);
	asked = 0;
}

static void post(uint64_t which)
{
	observe_request.number = 7;
	post_this(OBSERVE_READ, which);
}

static void serve(uint32_t vcpu)
{
	here = vcpus[vcpu].home->index;
	vcpu_serve_observers(&vcpus[vcpu]);
}

/* What is asked for at the moment of a hart is served in later stays. */
static void serve_asked(void)
{
	uint64_t which = asked;

	asked = 0;
	for (uint32_t i = 0; i < VCPUS; i++) {
		if (!(which & BIT(i)))
			continue;
		host_csrs[CSR_TIME] += 3;
		reads = 0;
		serve(i);
		assert_int_equal(reads, 1);
	}
	assert_int_equal(asked, 0);
}

static void poll(uint32_t hart)
{
	here = hart;
	observe_poll();
	assert_int_equal(poll_at[hart], NEVER);
}

static uint64_t left(void)
{
	return atomic_load(&observe_request.vcpus);
}

static void runs(uint32_t vcpu)
{
	struct pcpu *pcpu = vcpus[vcpu].home;

	pcpu->current = pcpu->stay_vcpu = &vcpus[vcpu];
}

/* All vcpus are on the client's hart: they are not read in the stay of the request. At the moment
 * that one is which runs. The others are read later, each in a stay of its own, and have the
 * moment's time. */
static void one_hart(void **state)
{
	(void)state;
	post(5);
	serve(0);
	serve(2);
	assert_int_equal(left(), 5);
	assert_int_equal(poll_at[0], 1000 + MOMENT);
	host_csrs[CSR_TIME] += MOMENT;
	runs(2);
	reads = 0;
	poll(0);
	assert_int_equal(left(), 1);
	assert_int_equal(reads, 1);
	assert_int_equal(asked, 1);
	/* Again, for somebody else: nothing is due twice. */
	host_csrs[CSR_TIME] += 1;
	asked = 0;
	poll(0);
	assert_int_equal(asked, 0);
	asked = 1;
	serve_asked();
	assert_int_equal(left(), 0);
	assert_int_equal(read_at[0], 1000 + MOMENT);
	assert_int_equal(read_at[2], 1000 + MOMENT);
	assert_int_equal(asked, 0);
}

/* Before the moment nothing is read, and behind it a vcpu before something is counted for it. */
static void counted(void **state)
{
	(void)state;
	post(5);
	serve(0);
	observe_before(&vcpus[0]);
	assert_int_equal(left(), 5);
	host_csrs[CSR_TIME] += MOMENT;
	poll(0);
	assert_int_equal(asked, 5);
	host_csrs[CSR_TIME] += 7;
	observe_before(&vcpus[2]);
	assert_int_equal(left(), 1);
	observe_before(&vcpus[2]);
	assert_int_equal(read_at[2], 1000 + MOMENT);
	asked = 0;
	/* It has been served: its request does nothing. */
	serve(2);
	serve(0);
	assert_int_equal(left(), 0);
	/* Not what is no read. */
	post_this(OBSERVE_BEGIN, 1);
	host_csrs[CSR_TIME] += MOMENT;
	poll(0);
	observe_before(&vcpus[0]);
	assert_int_equal(left(), 1);
	read_at[0] = 0;
	serve(0);
	assert_int_equal(left(), 0);
}

/* Samples that are in no ring yet: the vcpu is read at the moment, and the client is told when they
 * are, and then how many were lost at last. */
static void with_samples_due(void **state)
{
	const struct observer *told = vcpus[0].observers.copies;
	struct observer *o = vcpus[0].observers.observer;

	(void)state;
	o->event.period = 100;
	o->samples = 5;
	vcpus[0].observers.chain.due = 1;
	post(1);
	serve(0);
	host_csrs[CSR_TIME] += MOMENT;
	runs(0);
	reads = 0;
	poll(0);
	for (uint32_t i = 0; i < 3; i++) {
		observe_before(&vcpus[0]);
		serve(0);
		assert_int_equal(left(), 1);
		host_csrs[CSR_TIME] += 5;
	}
	o->lost = 2;
	vcpus[0].observers.chain.due = 0;
	observe_before(&vcpus[0]);
	assert_int_equal(left(), 0);
	assert_int_equal(reads, 1);
	assert_int_equal(read_at[0], 1000 + MOMENT);
	assert_int_equal(told[0].number, 7);
	assert_int_equal(told[0].samples, 5);
	assert_int_equal(told[0].lost, 2);
	assert_int_equal(told[1].number, 0);
}

static void end(uint32_t number, uint32_t count)
{
	ended = 0;
	observe_request.number = number;
	post_this(OBSERVE_END, 1);
	serve(0);
	assert_int_equal(ended, 0);
	host_csrs[CSR_TIME] += MOMENT;
	poll(0);
	for (uint32_t n = 0; n <= count; n++) {
		assert_int_equal(ended, n);
		assert_int_equal(left(), 1);
		assert_int_equal(asked, 1);
		asked = 0;
		serve(0);
	}
	assert_int_equal(ended, count);
	assert_int_equal(asked, 0);
	assert_int_equal(left(), 0);
}

/* Nor does an observer begin there, and each of several ends in a stay of its own. */
static void begin_and_end(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++)
		vcpus[0].observers.observer[n].number = n < 3 ? 10 : 20 + n;
	end(10, 3);
	end(0, VPMU_OBSERVERS - 3);
	post_this(OBSERVE_BEGIN, 1);
	serve(0);
	assert_int_equal(left(), 1);
	host_csrs[CSR_TIME] += MOMENT;
	poll(0);
	assert_int_equal(asked, 1);
	serve(0);
	assert_int_equal(left(), 0);
}

static void two_harts(void **state)
{
	uint64_t at = 1000 + MOMENT;

	(void)state;
	post(15);
	for (uint32_t i = 0; i < VCPUS; i++)
		serve(i);
	assert_int_equal(left(), 15);
	for (uint32_t k = 0; k < HARTS; k++)
		assert_int_equal(poll_at[k], at);
	host_csrs[CSR_TIME] = at;
	for (uint32_t k = 0; k < HARTS; k++)
		poll(k);
	serve_asked();
	assert_int_equal(left(), 0);
	for (uint32_t i = 0; i < VCPUS; i++)
		assert_int_equal(read_at[i], at);
}

/* A hart that sees the request late reads at once, or if it runs something else, when its timer
 * comes: in a stay whose first work is the vcpu that runs. */
static void late(void **state)
{
	(void)state;
	post(3);
	serve(0);
	host_csrs[CSR_TIME] += MOMENT + 5;
	runs(3);
	serve(1);
	assert_int_equal(poll_at[1], 1000 + MOMENT);
	assert_int_equal(left(), 3);
	harts[1].current = NULL;
	harts[1].stay_vcpu = &vcpus[1];
	serve(1);
	assert_int_equal(poll_at[1], NEVER);
	assert_int_equal(left(), 1);
	assert_int_equal(read_at[1], 1000 + MOMENT + 5);
	poll(0);
	serve_asked();
	assert_int_equal(left(), 0);
}

/* A vcpu that moves before the moment is read by its new home, and once. A request that the old
 * home does not know is left alone. */
static void moved(void **state)
{
	(void)state;
	post(2);
	serve(1);
	vcpus[1].home = &harts[0];
	host_csrs[CSR_TIME] += MOMENT;
	poll(1);
	assert_int_equal(left(), 2);
	asked = 0;
	here = 0;
	observe_arrive(&vcpus[1]);
	assert_int_equal(asked, 2);
	harts[0].stay_vcpu = &vcpus[1];
	serve(1);
	assert_int_equal(left(), 0);
	asked = 0;
	observe_arrive(&vcpus[1]);
	assert_int_equal(asked, 0);
	observe_post(OBSERVE_BEGIN, 8);
	poll_at[1] = 0;
	poll(1);
	assert_int_equal(left(), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(one_hart, setup),
	    cmocka_unit_test_setup(counted, setup),
	    cmocka_unit_test_setup(begin_and_end, setup),
	    cmocka_unit_test_setup(two_harts, setup),
	    cmocka_unit_test_setup(late, setup),
	    cmocka_unit_test_setup(moved, setup),
	    cmocka_unit_test_setup(with_samples_due, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
