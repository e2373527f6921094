/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ports of networks on harts that are threads, under ThreadSanitizer: several senders to one
 * receiver, two vcpus that notify one queue, and a receiver that resets its device meanwhile; as
 * PCI functions, in slots, and with offloads.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/vcpu/vcpu.h"
#include "tests/host/chance.h"
#include "tests/host/ports_driver.h"

#define SENT    1000U
#define SENDERS 3U
#define RESETS  100U

char host_locks;

/* A VM's driver, and the frames that it has sent to each other VM. */
static struct sender {
	struct driver driver;
	uint64_t frames[SENDERS];
} senders[SENDERS];
static atomic_uint running;   /* threads that may still send */
static atomic_bool resetting; /* they go on until a receiver has reset its device often enough */
static uint64_t features;     /* of all drivers */

/* Each thread has a vcpu of its own. */
static void has_vcpu(void)
{
	static _Thread_local struct vcpu vcpu;

	driver_vcpu = &vcpu;
}

static void start(uint32_t n)
{
	has_vcpu();
	stations_make();
	memset(senders, 0, sizeof(senders));
	for (uint32_t i = 0; i < SENDERS; i++)
		driver_start(&senders[i].driver, i, 0, features, QUEUE);
	atomic_store(&running, n);
}

static void run(uint32_t n, void *(*const what[])(void *), const uintptr_t who[])
{
	pthread_t threads[SENDERS];

	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, what[i], (void *)who[i]), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
}

/* One more frame to another VM, or to all. */
static bool send_one(struct sender *s, struct chance *c)
{
	uint32_t self = (uint32_t)(s - senders), to = below(c, SENDERS + 1);

	if (!driver_frame(&s->driver, to < SENDERS ? macs[to] : broadcast, (uint32_t)s->driver.sent,
	                  LEAST + below(c, 1500)))
		return false;
	for (uint32_t i = 0; i < SENDERS; i++)
		s->frames[i] += i != self && (to == i || to == SENDERS);
	return true;
}

static void *sends(void *number)
{
	struct sender *s = &senders[(uintptr_t)number];
	struct chance c = {(uintptr_t)number};

	has_vcpu();
	while (s->driver.sent < SENT || atomic_load(&resetting)) {
		if (send_one(s, &c) && percent(&c, 80))
			continue;
		driver_notify(&s->driver);
		(void)driver_take(&s->driver);
	}
	driver_notify(&s->driver);
	atomic_fetch_sub(&running, 1);
	while (atomic_load(&running))
		(void)driver_take(&s->driver);
	(void)driver_take(&s->driver);
	return NULL;
}

/* Each frame that was sent to a port was received, or is among those that it has lost. */
static void assert_all_accounted_for(void)
{
	for (uint32_t to = 0; to < SENDERS; to++) {
		const struct driver *d = &senders[to].driver;
		struct port_counts counts = driver_counts(d);
		uint64_t frames = 0;

		for (uint32_t from = 0; from < SENDERS; from++)
			frames += senders[from].frames[to];
		assert_int_equal(counts.received + counts.lost, frames);
		assert_int_equal(counts.received, d->received);
		assert_int_equal(counts.sent, d->sent);
		assert_int_equal(counts.refused, 0);
		assert_int_equal(d->wrong, 0);
		assert_true(d->received > 0);
	}
}

static void several_senders_to_one_receiver(void **state)
{
	(void)state;
	start(SENDERS);
	run(SENDERS, (void *(*const[])(void *)){sends, sends, sends}, (const uintptr_t[]){0, 1, 2});
	assert_all_accounted_for();
}

/* A second vcpu of a VM notifies the queue, too, and is done when it has nothing left to send. */
static void *notifies(void *number)
{
	const struct driver *d = &senders[(uintptr_t)number].driver;

	has_vcpu();
	while (atomic_load(&running)) {
		driver_notify(d);
		sched_yield();
	}
	return NULL;
}

static void two_vcpus_notify_one_queue(void **state)
{
	(void)state;
	/* All within a period, and none counts twice. */
	stations_limit(SENT, 0);
	start(2);
	stations_limit(0, 0);
	run(3, (void *(*const[])(void *)){sends, notifies, sends}, (const uintptr_t[]){0, 0, 1});
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(driver_counts(&senders[i].driver).sent, SENT);
	(void)driver_take(&senders[2].driver);
	assert_all_accounted_for();
}

/* Resets its device at any time, and finds nothing written after that. */
static void *resets(void *number)
{
	static uint8_t before[BYTES];
	struct driver *d = &senders[(uintptr_t)number].driver;
	uint64_t received = 0, wrong = 0;

	has_vcpu();
	for (uint32_t n = 0; n < RESETS; n++) {
		while (!driver_take(d))
			sched_yield();
		for (uint32_t i = 0; i < n % 50; i++)
			(void)driver_take(d);
		received += d->received;
		wrong += d->wrong;
		if (n % 2) {
			out(d, 0x14, 0, 1);
		} else if (n % 4 && driver_is_in_slot(d)) {
			/* The queue that receives alone: QueueReady = 0. */
			out(d, 0x16, PORT_RECEIVES, 2);
			out(d, 0x1c, 0, 2);
		} else {
			ports_reset(d->vm, false);
			ports_reset(d->vm, true);
		}
		memcpy(before, rams[(uintptr_t)number], BYTES);
		for (uint32_t i = 0; i < 3; i++)
			wrong += memcmp(before, rams[(uintptr_t)number], BYTES) != 0;
		driver_start(d, (uint32_t)(uintptr_t)number, 0, features, QUEUE);
	}
	d->wrong = wrong;
	d->received = received;
	atomic_store(&resetting, false);
	atomic_fetch_sub(&running, 1);
	return NULL;
}

static void a_receiver_that_resets_its_device(void **state)
{
	(void)state;
	start(3);
	atomic_store(&resetting, true);
	run(3, (void *(*const[])(void *)){sends, sends, resets}, (const uintptr_t[]){0, 1, 2});
	for (uint32_t i = 0; i < SENDERS; i++)
		assert_int_equal(senders[i].driver.wrong, 0);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(driver_counts(&senders[i].driver).sent, senders[i].driver.sent);
	assert_true(senders[2].driver.received >= RESETS);
}

static atomic_bool over;

static void *ends(void *vm)
{
	has_vcpu();
	ports_reset(vm, false);
	atomic_store(&over, true);
	return NULL;
}

static uint32_t users(struct port *p, uint32_t n, bool set)
{
	spin_lock(&p->lock);
	if (set)
		p->queues[PORT_RECEIVES].users = n;
	n = atomic_load(&p->queues[PORT_RECEIVES].live);
	spin_unlock(&p->lock);
	return n;
}

/* As long as another hart copies into its buffers. */
static void an_end_waits(void **state)
{
	struct port *p;
	pthread_t thread;

	(void)state;
	atomic_store(&over, false);
	start(0);
	p = stations[1].ports[0];
	assert_int_equal(users(p, 1, true), 1);
	assert_int_equal(pthread_create(&thread, NULL, ends, &stations[1]), 0);
	while (users(p, 0, false))
		sched_yield();
	for (uint32_t i = 0; i < 1000; i++) {
		assert_false(atomic_load(&over));
		sched_yield();
	}
	(void)users(p, 0, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(atomic_load(&over));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(several_senders_to_one_receiver),
	    cmocka_unit_test(two_vcpus_notify_one_queue),
	    cmocka_unit_test(a_receiver_that_resets_its_device),
	    cmocka_unit_test(an_end_waits),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	/* All in slots. */
	stations_virt = 0xf;
	failed += cmocka_run_group_tests(tests, NULL, NULL);
	/* With offloads: frames of several buffers, each of which may take several stays. */
	stations_offload(true);
	features = OFFLOADS;
	instret_step = 1000;
	return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
