/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The handshakes of docs/memory-order.md with threads for harts, under ThreadSanitizer: what one
 * hart hands to another is plain data, so each order that is missing is a race.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "core/sched/port.h"
#include "core/vcpu/observers.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/sched/sched.h"
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"
#include "core/watch/observe.h"
#include "core/watch/trace.h"
#include "tests/host/threads.h"
#include "vpmu/show.h"

#define SENDERS 2U
#define SENT    5000U

/* Reads of what another hart writes without a word to anybody are atomic, and so are these. */
static atomic_bool done;

/* --- requests and mail ---------------------------------------------------------------------- */

/* Takes mail while the vcpu is resident, is not, and becomes so again. */
static void *takes_mail(void *unused)
{
	struct pcpu *pcpu = threads_hart(0);
	struct vcpu *vcpu = &vcpus[0];

	(void)unused;
	for (unsigned int i = 0;; i++) {
		bool last = atomic_load(&done);

		threads_serve(pcpu);
		if (i % 7 == 3) {
			pcpu->current = NULL;
			requests_disable(&vcpu->requests);
			threads_serve(pcpu);
			if (requests_enable(&vcpu->requests, REQ_ALL))
				(void)vcpu_serve_turn(vcpu);
			pcpu->current = vcpu;
		}
		if (last)
			return NULL;
	}
}

static void *sends(void *unused)
{
	(void)threads_hart(1);
	(void)unused;
	for (unsigned int i = 0; i < SENT; i++)
		vcpu_send(&vcpus[0], REQ_IPI, REQ_GOT_IPI);
	return NULL;
}

static void no_request_is_lost(void **state)
{
	pthread_t home, senders[SENDERS];

	(void)state;
	atomic_store(&done, false);
	pthread_create(&home, NULL, takes_mail, NULL);
	for (unsigned int i = 0; i < SENDERS; i++)
		pthread_create(&senders[i], NULL, sends, NULL);
	for (unsigned int i = 0; i < SENDERS; i++)
		pthread_join(senders[i], NULL);
	atomic_store(&done, true);
	pthread_join(home, NULL);
	assert_int_equal(vpmu_fw_seen(&vcpus[0].pmu, SBI_PMU_FW_IPI_RECEIVED), SENDERS * SENT);
	assert_int_equal(atomic_load(&vcpus[0].requests.pending), 0);
}

/* --- what the user asks for ----------------------------------------------------------------- */

/* A command and an observation after the other, each done before the next. */
static void *asks(void *unused)
{
	struct pcpu *pcpu = threads_hart(1);

	(void)unused;
	pcpu->vcpus[0] = &vcpus[0];
	for (unsigned int i = 1; i <= SENT; i++) {
		threads_given = i;
		assert_true(vm_give_command(&vms[0], VM_COMMAND_RESTART));
		while (atomic_load(&threads_taken) != i)
			;
		observe_request.number = i;
		observe_post(OBSERVE_BEGIN, 1);
		while (atomic_load(&observe_request.vcpus))
			;
		assert_int_equal(vcpus[0].observers.copies[0].number, i);
		assert_int_equal(vcpus[0].observers.copies[0].value, 3 * i);
	}
	return NULL;
}

static void commands_and_observations(void **state)
{
	pthread_t home, client;

	(void)state;
	atomic_store(&done, false);
	pthread_create(&home, NULL, takes_mail, NULL);
	pthread_create(&client, NULL, asks, NULL);
	pthread_join(client, NULL);
	atomic_store(&done, true);
	pthread_join(home, NULL);
	assert_int_equal(atomic_load(&vms[0].command), VM_COMMAND_NONE);
}

/* --- a vcpu's start ------------------------------------------------------------------------- */

static void *starts(void *unused)
{
	struct vcpu *self = &vcpus[0];

	(void)threads_hart(0);
	(void)unused;
	threads_context = &self->ctx;
	for (uint64_t i = 1; i <= SENT; i++) {
		vsbi_ret ret;

		do
			ret = vsbi_hsm.fn[SBI_HSM_HART_START](1, 2 * i, ~i, 0, 0, 0, 0, 0);
		while ((uint64_t)ret);
	}
	atomic_store(&done, true);
	return NULL;
}

/* The home serves a request of the VM's former life again and again: it starts the vcpu at the
 * right place, or not at all. */
static void starts_at_the_right_place(void **state)
{
	struct vcpu *vcpu = &vcpus[1];
	pthread_t starter;
	bool last;

	(void)state;
	atomic_store(&done, false);
	threads_hart(1)->current = NULL;
	pthread_create(&starter, NULL, starts, NULL);
	do {
		last = atomic_load(&done);
		(void)requests_make(&vcpu->requests, REQ_START);
		(void)vcpu_serve_turn(vcpu);
		if (atomic_load(&vcpu->hsm_state) == SBI_HSM_STATE_STARTED)
			atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_STOPPED);
	} while (!last);
	pthread_join(starter, NULL);
	assert_int_equal(threads_wrong_starts, 0);
	assert_int_equal(threads_starts, SENT);
}

/* --- trace ---------------------------------------------------------------------------------- */

#define NOTED 100000U

static void note(const struct vcpu *vcpu, uint64_t now)
{
	struct exit_record exit = {
	    .time = now,
	    .vcpu = vcpu,
	    .scause = 7 * now,
	    .sepc = 3 * now,
	    .stval = 5 * now,
	    .gpa = now << 2,
	};

	trace_exit(&exit);
}

static void *notes(void *number)
{
	struct vcpu *vcpu = number;

	(void)threads_hart(vcpu->id);
	for (threads_now = 1; threads_now <= NOTED; threads_now++)
		note(vcpu, threads_now);
	return NULL;
}

static void whole_entries(const struct exit_record *entries, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct exit_record *e = &entries[i];

		assert_int_equal(e->scause, 7 * e->time);
		assert_int_equal(e->sepc, 3 * e->time);
		assert_int_equal(e->stval, 5 * e->time);
		assert_int_equal(e->gpa, e->time << 2);
	}
}

static uint32_t newest(struct exit_record entries[TRACE_SHOWN])
{
	uint32_t n = 0;

	while (!trace_newest(entries, &n))
		;
	return n;
}

static void entries_are_whole(void **state)
{
	static struct exit_record entries[TRACE_SHOWN];
	pthread_t writers[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		pthread_create(&writers[i], NULL, notes, &vcpus[i]);
	do
		whole_entries(entries, newest(entries));
	while (newest(entries) < 2 || entries[0].time < NOTED || entries[1].time < NOTED);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(writers[i], NULL);
	assert_int_equal(newest(entries), TRACE_SHOWN);
	for (uint32_t i = 0; i < TRACE_SHOWN; i++)
		assert_int_equal(entries[i].time, NOTED - i / 2);
}

/* --- the lock of the serial line ------------------------------------------------------------ */

#define LINES 1000U

static void *logs(void *hart)
{
	for (unsigned int i = 0; i < LINES; i++)
		log_line("hart %lu says %u", *(const uint64_t *)hart, i);
	return NULL;
}

static void lines_are_whole(void **state)
{
	static uint64_t harts[3] = {0, 1, 2};
	unsigned int next[3] = {0}, number;
	pthread_t writers[3];
	uint64_t hart;

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		pthread_create(&writers[i], NULL, logs, &harts[i]);
	for (unsigned int i = 0; i < 3; i++)
		pthread_join(writers[i], NULL);
	for (char *line = strtok(threads_line, "\n"); line; line = strtok(NULL, "\n")) {
		assert_int_equal(sscanf(line, "tally: hart %lu says %u", &hart, &number), 2);
		assert_true(hart < 3);
		assert_int_equal(number, next[hart]++);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(next[i], LINES);
}

/* --- time on a hart ------------------------------------------------------------------------- */

#define TURNS 100000U

static void *takes_turns(void *unused)
{
	(void)unused;
	for (unsigned int i = 0; i < TURNS; i++) {
		vcpu_cpu_time_start(&vcpus[0].stats, atomic_fetch_add(&threads_clock, 1) + 1);
		vcpu_cpu_time_stop(&vcpus[0].stats, atomic_fetch_add(&threads_clock, 1) + 1);
	}
	atomic_store(&done, true);
	return NULL;
}

/* It went back, or ran ahead of time, when it was read between two of the home's writes. */
static void time_on_a_hart(void **state)
{
	uint64_t before = 0, now, ticks;
	pthread_t home;

	(void)state;
	atomic_store(&done, false);
	atomic_store(&threads_clock, 1);
	pthread_create(&home, NULL, takes_turns, NULL);
	do {
		ticks = vcpu_cpu_time(&vcpus[0].stats, &now);
		assert_true(ticks >= before && ticks <= now);
		before = ticks;
	} while (!atomic_load(&done));
	pthread_join(home, NULL);
	assert_int_equal(vcpu_cpu_time(&vcpus[0].stats, &now), TURNS);
}

static int setup(void **state)
{
	(void)state;
	threads_begin();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup(no_request_is_lost, setup),
	    cmocka_unit_test_setup(commands_and_observations, setup),
	    cmocka_unit_test_setup(starts_at_the_right_place, setup),
	    cmocka_unit_test_setup(entries_are_whole, setup),
	    cmocka_unit_test_setup(lines_are_whole, setup),
	    cmocka_unit_test_setup(time_on_a_hart, setup),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
