/* SPDX-License-Identifier: Apache-2.0 */
/* Rings of a VM that is an operator, which writes anything there at any time: what Tally asks the
 * prompt for it, and where Tally writes (core/operator/operator_rings.c). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/io/operator_function.h"
#include "core/io/port.h"
#include "core/operator/prompt.h"
#include "core/operator/prompt_server.h"
#include "core/vcpu/long_call.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"
#include "tests/host/chance.h"

#define HZ   100U
#define VMS  6U /* VMs 1 and 2 */
#define MINE 4U /* the client of VM 3 */

uint64_t host_csrs[4096];
uint32_t n_pcpus = 1, n_vms = 4;
struct platform platform = {.timebase = 1000000};
struct observe_request observe_request;

static struct vm_config config = {
    .operator= {.access = VM_OPERATOR_WATCH, .vms = VMS, .requests_hz = HZ, .samples_hz = 1},
};
static struct vm vm = {.config = &config, .index = MINE - 1, .life.number = 1};
static struct vcpu vcpu = {.vm = &vm};
static struct operator_memory *memory;
static uint64_t ring[PAGE_SIZE / 8];
static struct chance luck;
static struct long_call call;

static struct {
	bool holds;
	uint32_t lines, starts, told, ended, traces, stays, forgotten;
	uint64_t next_at;
	char line[PROMPT_LINE_BYTES];
} seen;

struct guest_context *this_context(void)
{
	return &vcpu.ctx;
}

void long_call_begin(struct vcpu *of, const struct long_call *begun)
{
	assert_ptr_equal(of, &vcpu);
	call = *begun;
}

struct operator_memory *operator_function_memory(const struct vm *of)
{
	assert_ptr_equal(of, &vm);
	return memory;
}

void operator_function_tell(struct vm *of)
{
	assert_ptr_equal(of, &vm);
	seen.told++;
}

bool prompt_enter(void)
{
	return below(&luck, 8);
}

void prompt_leave(void)
{
}

bool prompt_take(uint32_t client, uint64_t now)
{
	assert_int_equal(client, MINE);
	assert_int_equal(now, host_csrs[CSR_TIME]);
	if (atomic_load(&observe_request.vcpus))
		return false;
	seen.holds = seen.holds || below(&luck, 4);
	return seen.holds;
}

bool prompt_holds(uint32_t client)
{
	assert_int_equal(client, MINE);
	/* Another one may take it, but not while observers are asked. */
	if (!atomic_load(&observe_request.vcpus))
		seen.holds = seen.holds && below(&luck, 50);
	return seen.holds;
}

void prompt_release(uint32_t client)
{
	assert_int_equal(client, MINE);
	seen.holds = false;
}

/* Its rights are those of the tree, whatever it asks, and the text is printable and ends. */
void prompt_start(uint32_t client, const struct vm_operator *rights, const char *text)
{
	assert_int_equal(client, MINE);
	assert_ptr_equal(rights, &vm.config->operator);
	assert_true(strlen(text) <= CONSOLE_COMMAND_BYTES);
	for (; *text; text++)
		assert_true(*text >= ' ' && *text <= '~');
	seen.starts++;
	seen.lines = below(&luck, 40);
}

const char *prompt_step(enum prompt_status *status)
{
	*status = PROMPT_OK;
	if (!seen.lines)
		return NULL;
	if (below(&luck, 2))
		return "";
	seen.lines--;
	memset(seen.line, 'a', sizeof(seen.line));
	seen.line[below(&luck, sizeof(seen.line))] = '\0';
	seen.line[sizeof(seen.line) - 1] = '\0';
	return seen.line;
}

void observe_post(enum observe_what what, uint64_t vcpus)
{
	assert_int_equal(what, OBSERVE_END);
	assert_int_equal(vcpus, 5);
	assert_int_equal(observe_request.number, 0);
	atomic_store(&observe_request.vcpus, vcpus);
	seen.ended++;
}

/* Observations have ended before. */
void prompt_end_trace(uint32_t client)
{
	assert_int_equal(client, MINE);
	assert_true(seen.holds);
	assert_int_equal(atomic_load(&observe_request.vcpus), 0);
	assert_int_equal(++seen.traces, seen.ended);
}

/* It has some. */
void prompt_end_stays(uint32_t client)
{
	assert_int_equal(client, MINE);
	assert_true(seen.holds);
	assert_int_equal(++seen.stays, seen.traces);
	atomic_store(&observe_request.vcpus, 2);
}

uint64_t observe_vcpus(uint32_t of_vms)
{
	assert_int_equal(of_vms, VMS);
	return 5;
}

void *samples_page(uint32_t client, uint32_t n)
{
	assert_int_equal(client, MINE);
	return n ? NULL : ring;
}

void samples_forget(uint32_t client)
{
	assert_int_equal(client, MINE);
	seen.forgotten++;
}

/* Writes anything where the guest may write, and sometimes what makes sense. */
static void guest_writes(void)
{
	struct operator_request *r = &memory->requests[below(&luck, OPERATOR_REQUESTS)];
	uint8_t *bytes = (uint8_t *)r;

	memory->guest.requests_written =
	    below(&luck, 8) ? memory->tally.requests_taken + below(&luck, OPERATOR_REQUESTS + 2)
	                    : (uint32_t)chance(&luck);
	memory->guest.answers_taken =
	    below(&luck, 8) ? memory->tally.answers_written - below(&luck, OPERATOR_ANSWERS + 2)
	                    : (uint32_t)chance(&luck);
	for (uint32_t i = 0; i < sizeof(*r); i++)
		bytes[i] = (uint8_t)(below(&luck, 30) ? ' ' + below(&luck, 95) : chance(&luck));
	if (below(&luck, 2))
		r->text[below(&luck, sizeof(r->text))] = '\0';
}

/* A slice that the doorbell began: no more than one answer is written. */
static void slice(void)
{
	static struct operator_memory before;
	uint32_t written = memory->tally.answers_written;
	uint32_t room = written - memory->guest.answers_taken, taken;

	before = *memory;
	host_csrs[CSR_TIME] += below(&luck, 3000);
	(void)call.slice(&vcpu);
	assert_true(memory->tally.answers_written - written <= 1);
	taken = memory->tally.requests_taken - before.tally.requests_taken;
	if (taken == 1) {
		assert_true(host_csrs[CSR_TIME] >= seen.next_at);
		seen.next_at = host_csrs[CSR_TIME] + platform.timebase / HZ;
	} else if (taken) {
		/* All were dropped. */
		assert_true(taken > OPERATOR_REQUESTS);
		assert_int_equal(memory->tally.requests_taken, memory->guest.requests_written);
	}
	/* None is written over. */
	if (room >= OPERATOR_ANSWERS)
		assert_int_equal(memory->tally.answers_written, written);
	for (uint32_t i = 0; i < OPERATOR_ANSWERS; i++) {
		if (memory->tally.answers_written == written || i != written % OPERATOR_ANSWERS)
			assert_memory_equal(&memory->answers[i], &before.answers[i],
			                    sizeof(before.answers[i]));
	}
	assert_memory_equal(&memory->guest, &before.guest, sizeof(before.guest));
	assert_memory_equal(memory->requests, before.requests, sizeof(before.requests));
	assert_memory_equal(memory->samples_written, before.samples_written,
	                    sizeof(before.samples_written) + sizeof(before.samples_taken));
}

/* No more requests begin than the tree allows, and nothing is asked but in the VM's name. */
static void test_anything(void **state)
{
	(void)state;
	operator_rung();
	assert_int_equal(call.cause, EXIT_MMIO);
	for (uint32_t i = 0; i < 200000; i++) {
		if (!below(&luck, 3))
			guest_writes();
		slice();
	}
	assert_true(seen.starts > 1000 && seen.told > 100);
}

/* Whatever was going on: its observations end, all memory is cleared, and no more is done. */
static void test_rest(void **state)
{
	(void)state;
	for (; vm.life.number < 100; vm.life.number++) {
		uint32_t steps = 0, ended = seen.ended, stays = seen.stays,
		         forgotten = seen.forgotten;

		for (uint32_t i = 0; i < 100; i++) {
			guest_writes();
			slice();
		}
		memset(memory->samples_taken, 1, sizeof(memory->samples_taken));
		memset(ring, 1, sizeof(ring));
		observe_request.number = 5;
		seen.next_at = 0;
		while (operator_rest(&vm)) {
			assert_true(steps++ < 1000);
			if (!below(&luck, 5))
				atomic_store(&observe_request.vcpus, 0);
			/* No page is cleared before all observers have ended. */
			if (seen.ended > ended && atomic_load(&observe_request.vcpus))
				assert_int_equal(ring[0] & 1, 1);
		}
		assert_int_equal(seen.ended, ended + 1);
		assert_int_equal(seen.stays, stays + 1);
		assert_int_equal(seen.traces, seen.ended);
		assert_int_equal(seen.forgotten, forgotten + 1);
		assert_false(seen.holds);
		for (uint32_t i = 0; i < sizeof(*memory); i++)
			assert_int_equal(((uint8_t *)memory)[i], 0);
		for (uint32_t i = 0; i < sizeof(ring) / sizeof(ring[0]); i++)
			assert_int_equal(ring[i], 0);
		atomic_store(&observe_request.vcpus, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_anything),
	    cmocka_unit_test(test_rest),
	};

	memory = calloc(1, sizeof(*memory));
	luck = (struct chance){chance_mix(7)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
