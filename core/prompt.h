/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operator asks of Tally at the prompt. A command's output is made line by line, each in a
 * stay in HS of its own, with the guests running in between. It is asked by a person, who types, and
 * by a program (core/console_request.c), each of whom has one command at a time.
 *
 * Vcpus of other harts are looked at without a lock and without asking them: their numbers may be
 * those of a moment ago, and two of one line may be of two moments. Boot hart only.
 */
#ifndef CORE_PROMPT_H
#define CORE_PROMPT_H

#include "core/types.h"
#include "core/vm.h"

#define PROMPT_LINE_BYTES 320U

/* Who asks: each has one command at a time. */
enum prompt_asker { PROMPT_PERSON, PROMPT_PROGRAM, PROMPT_ASKERS };

/* What became of a command. Programs are told, people can read. */
enum prompt_status {
	PROMPT_OK,
	PROMPT_FAILED, /* understood, but it cannot be done */
	PROMPT_WRONG,  /* no such command */
};

/* Takes up a command. Prints nothing; one that is still at work is dropped. NULL: something that
 * cannot be a command. */
void prompt_begin(enum prompt_asker asker, const char *text);

/* The next line of the output. false: there is no more. */
bool prompt_line(enum prompt_asker asker, char line[PROMPT_LINE_BYTES]);

/* When there is no more. */
enum prompt_status prompt_status(enum prompt_asker asker);

/* How far a command's output has come. */
struct prompt_walk {
	bool json;
	uint32_t vm;
	uint32_t vcpu;
	uint32_t line; /* of this vcpu */
};

/* A line for the place where the walk is, which then moves on. The place exists. */
typedef void prompt_line_fn(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES]);

/* core/prompt_vms.c */
prompt_line_fn prompt_vms, prompt_exits;
/* core/prompt_pmu.c */
prompt_line_fn prompt_pmu;

/* core/prompt_move.c: what it answers, a line in any case. */
enum prompt_status prompt_move(struct vm *vm, const char *vcpu, const char *hart,
                               char line[PROMPT_LINE_BYTES]);

static inline const struct vcpu *prompt_vcpu(const struct prompt_walk *walk)
{
	return vms[walk->vm].vcpus[walk->vcpu];
}

static inline void prompt_next_vm(struct prompt_walk *walk)
{
	walk->vm++;
	walk->vcpu = 0;
	walk->line = 0;
}

static inline void prompt_next_vcpu(struct prompt_walk *walk)
{
	walk->line = 0;
	if (++walk->vcpu >= vms[walk->vm].config->n_vcpus)
		prompt_next_vm(walk);
}

#endif
