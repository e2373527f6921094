/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests of a VM that is an operator, from its rings (core/io/operator_function.h) to the prompt
 * (prompt_server.h), and answers back. They are slices of a long call of the vcpu that has rung, so
 * the VM pays with its own time. The call ends when there are no more requests, or when the guest
 * has to read answers first; then the next doorbell goes on.
 *
 * The guest may write its memory at any time. Tally never reads what it has written there, and
 * reads what the guest has written once, into a local.
 */
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/io/operator_function.h"
#include "core/io/port.h"
#include "core/operator/prompt.h"
#include "core/operator/prompt_server.h"
#include "core/vcpu/long_call.h"
#include "core/vcpu/vcpu.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"

_Static_assert(PROMPT_LINE_BYTES <= sizeof(((struct operator_answer *)0)->text), "a line fits");

/* The prompt's lock protects these. */
struct rings {
	enum { NO_REQUEST, WAITS, IS_ANSWERED, ENDS } state;
	uint32_t taken, written; /* Tally's indices */
	uint32_t told;           /* `written` at the last interrupt */
	uint64_t tag;
	char text[CONSOLE_COMMAND_BYTES + 1];
	uint64_t next_at; /* host time from which on the next request may begin */
	uint64_t since;   /* it waits for the prompt */
	/* Between two lives: the number of the life whose rest is cleared; steps of that. */
	uint64_t cleared_life;
	enum { END_OBSERVATIONS, END_TRACES, TRACES_END, CLEAR } step;
	uint32_t pages;
};
static struct rings rings_of[VM_MAX_VMS];

/* Copies a request. One that is too long, or not printable, becomes one that no command has. */
static void copy_request(struct rings *r, const struct operator_request *slot)
{
	struct operator_request request;
	uint32_t n = 0;

	memcpy(&request, slot, sizeof(request));
	r->tag = request.tag;
	while (n < sizeof(r->text) && request.text[n] >= ' ' && request.text[n] <= '~')
		n++;
	if (n == sizeof(r->text) || request.text[n]) {
		request.text[0] = '?';
		n = 1;
	}
	memcpy(r->text, request.text, n);
	r->text[n] = '\0';
}

/* Takes the next request. Returns false if there is none. */
static bool take_request(const struct vm *vm, struct rings *r, uint64_t now)
{
	struct operator_memory *m = operator_function_memory(vm);
	uint32_t written = __atomic_load_n(&m->guest.requests_written, __ATOMIC_ACQUIRE);

	/* A wrong index: there is no way to know which are meant. */
	if (written - r->taken > OPERATOR_REQUESTS) {
		r->taken = written;
		__atomic_store_n(&m->tally.requests_taken, written, __ATOMIC_RELEASE);
	}
	if (written == r->taken)
		return false;
	if (now < r->next_at)
		return true;
	r->next_at = now + platform.timebase / vm->config->operator.requests_hz;
	copy_request(r, &m->requests[r->taken++ % OPERATOR_REQUESTS]);
	__atomic_store_n(&m->tally.requests_taken, r->taken, __ATOMIC_RELEASE);
	r->since = now;
	r->state = WAITS;
	return true;
}

static bool has_room(const struct vm *vm, const struct rings *r)
{
	struct operator_memory *m = operator_function_memory(vm);

	return r->written - __atomic_load_n(&m->guest.answers_taken, __ATOMIC_ACQUIRE) <
	       OPERATOR_ANSWERS;
}

/* line NULL: the end of the answer. */
static void put(const struct vm *vm, struct rings *r, const char *line, enum prompt_status status)
{
	struct operator_memory *m = operator_function_memory(vm);
	struct operator_answer *answer = &m->answers[r->written % OPERATOR_ANSWERS];
	size_t n = line ? strlen(line) : 0;

	answer->tag = r->tag;
	answer->kind = line ? OPERATOR_LINE : OPERATOR_END;
	answer->status = status;
	answer->length = (uint32_t)n;
	memcpy(answer->text, line ? line : "", n + 1);
	__atomic_store_n(&m->tally.answers_written, ++r->written, __ATOMIC_RELEASE);
	if (!line)
		r->state = NO_REQUEST;
}

static void begin(const struct vm *vm, struct rings *r, uint64_t now)
{
	if (prompt_take(prompt_client(vm), now)) {
		prompt_start(prompt_client(vm), &vm->config->operator, r->text);
		r->state = IS_ANSWERED;
	} else if (now - r->since >= platform.timebase / PROMPT_HOLD_HZ) {
		r->state = IS_ANSWERED; /* and does not hold the prompt */
	}
}

/* Puts the next line of the answer, if it is there. */
static void answer(const struct vm *vm, struct rings *r)
{
	enum prompt_status status = PROMPT_FAILED;
	const char *line = NULL;

	if (r->state == IS_ANSWERED && !prompt_holds(prompt_client(vm))) {
		put(vm, r, "another operator is being answered: ask once more", status);
		r->state = ENDS;
		return;
	}
	if (r->state == IS_ANSWERED)
		line = prompt_step(&status);
	if (!line || *line)
		put(vm, r, line, status);
	if (!line)
		prompt_release(prompt_client(vm));
}

/* Returns false if there is nothing to do before the guest rings again. */
static bool step(struct vm *vm, struct rings *r)
{
	uint64_t now = csr_read(CSR_TIME);

	if (r->state == NO_REQUEST)
		return take_request(vm, r, now);
	if (r->state == WAITS)
		begin(vm, r, now);
	else if (has_room(vm, r))
		answer(vm, r);
	else
		return false;
	return true;
}

static bool serve_rings(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;
	struct rings *r = &rings_of[vm->index];
	bool more, tell;

	if (!prompt_enter())
		return true;
	more = step(vm, r);
	tell = !more && r->told != r->written;
	if (tell)
		r->told = r->written;
	prompt_leave();
	if (tell)
		operator_function_tell(vm);
	return more;
}

void operator_rung(void)
{
	long_call_begin(this_vcpu(), &(struct long_call){.slice = serve_rings, .cause = EXIT_MMIO});
}

/* --- between two lives --------------------------------------------------------------------- */

static void clear_page(const struct vm *vm, struct rings *r)
{
	uint8_t *memory = (uint8_t *)operator_function_memory(vm);
	uint32_t n = r->pages++, pages = operator_bytes(vm) / PAGE_SIZE;
	void *page =
	    n < pages ? memory + n * PAGE_SIZE : samples_page(prompt_client(vm), n - pages);

	if (page) {
		memset(page, 0, PAGE_SIZE);
		return;
	}
	samples_forget(prompt_client(vm));
	*r = (struct rings){.cleared_life = vm->life.number};
}

static void rest(const struct vm *vm, struct rings *r)
{
	uint32_t client = prompt_client(vm);

	if (r->step == END_OBSERVATIONS && prompt_take(client, csr_read(CSR_TIME))) {
		observe_request.number = 0;
		observe_post(OBSERVE_END, observe_vcpus(vm->config->operator.vms));
		r->step = END_TRACES;
	} else if (r->step == END_TRACES && prompt_take(client, csr_read(CSR_TIME))) {
		prompt_end_trace(client);
		prompt_end_stays(client);
		r->step = TRACES_END;
	} else if (r->step == TRACES_END &&
	           !(prompt_holds(client) && atomic_load(&observe_request.vcpus))) {
		prompt_release(client);
		r->step = CLEAR;
	} else if (r->step == CLEAR) {
		clear_page(vm, r);
	}
}

bool operator_rest(struct vm *vm)
{
	struct rings *r = &rings_of[vm->index];

	if (r->cleared_life == vm->life.number)
		return false;
	if (prompt_enter()) {
		rest(vm, r);
		prompt_leave();
	}
	return true;
}
