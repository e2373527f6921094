/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operator asks of Tally: a person at the prompt, or a program by a request
 * (core/console/console_keys.c). One command is answered at a time. Its output is made line by
 * line, each in a stay in HS of its own, with the guests running in between.
 *
 * Vcpus of other harts are looked at without a lock and without asking them: their numbers may be
 * those of a moment ago, and two of one line may be of two moments. Boot hart only.
 */
#ifndef CORE_OPERATOR_PROMPT_H
#define CORE_OPERATOR_PROMPT_H

#include "core/console/console.h"
#include "core/lib/text.h"
#include "core/vm/platform.h"
#include "core/vm/vm.h"

#define PROMPT_LINE_BYTES 640U
#define PROMPT_MOST_WORDS 4U

/* What became of a command. Programs are told, people can read. */
enum prompt_status {
	PROMPT_OK,
	PROMPT_FAILED, /* understood, but it cannot be done */
	PROMPT_WRONG,  /* no such command */
};

/* Takes up a command. Prints nothing. NULL: something that cannot be a command. */
void prompt_begin(const char *text);

/* The next line of the output, "": it is not there yet, NULL: there is no more, and the status is
 * the command's. */
const char *prompt_line(enum prompt_status *status);

/* A command, and how far its output has come. */
struct prompt;
typedef void prompt_fn(struct prompt *p);

struct prompt {
	char text[CONSOLE_COMMAND_BYTES + 1]; /* cut into words */
	const char *word[PROMPT_MOST_WORDS];
	uint32_t n_words;
	bool json;         /* --json was the last one, and is not among these */
	const char *takes; /* what it is to be told where they are wrong */
	enum prompt_status status;
	/* Adds to out the next line, or nothing, for the place where the output is, and moves that
	 * on. At vm = n_vms it has ended. */
	prompt_fn *next;
	uint32_t vm;
	uint32_t vcpu;
	uint32_t row; /* of this vcpu */
	struct text out;
	char line[PROMPT_LINE_BYTES];
};

/* The functions of commands, which take part in the output from its first line on. */
prompt_fn prompt_vms, prompt_exits, prompt_pmu, prompt_trace, prompt_observe, prompt_observed;

/* The last line of the output, and what became of the command. */
void prompt_answer(struct prompt *p, enum prompt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Answers that the command takes other words. */
void prompt_wrong(struct prompt *p);

/* The VM of that name; NULL: there is none, and that has been answered. */
struct vm *prompt_vm_named(struct prompt *p, const char *name);

/* A word that is a number (core/lib/numbers.h) and nothing else; ~0 for any other. */
uint64_t prompt_number(const char *word);

/*
 * What is told of a vcpu or a VM has one form: an object of JSON, but with ' for ". The names of a
 * vcpu begin it; others add "{'NAME':VALUE" or ",'NAME':VALUE", and no string holds such a sign.
 * prompt_tell() ends it, and makes JSON of it for a program, and "NAME VALUE, NAME VALUE" for a
 * person.
 */
void prompt_vcpu_names(struct prompt *p, const struct vcpu *vcpu);
void prompt_tell(struct prompt *p);

static inline const char *prompt_bool(bool value)
{
	return value ? "true" : "false";
}

/* Host time in units of which a second has so many. */
static inline uint64_t prompt_time(uint64_t ticks, uint64_t hz)
{
	return ticks / platform.timebase * hz + ticks % platform.timebase * hz / platform.timebase;
}

static inline const struct vcpu *prompt_vcpu(const struct prompt *p)
{
	return vms[p->vm].vcpus[p->vcpu];
}

void prompt_next_vm(struct prompt *p);
void prompt_next_vcpu(struct prompt *p);

#endif
