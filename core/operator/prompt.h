/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the operator asks of Tally at the prompt. A command's output is made line by line, each in a
 * stay in HS of its own, with the guests running in between. It is asked by a person, who types,
 * and by a program (core/console/console_request.c), each of whom has one command at a time.
 *
 * Vcpus of other harts are looked at without a lock and without asking them: their numbers may be
 * those of a moment ago, and two of one line may be of two moments. Boot hart only.
 */
#ifndef CORE_OPERATOR_PROMPT_H
#define CORE_OPERATOR_PROMPT_H

#include "core/lib/types.h"
#include "core/vm/platform.h"
#include "core/vm/vm.h"

#define PROMPT_LINE_BYTES 640U

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

/* The next line of the output, "": it is not there yet. false: there is no more. */
bool prompt_line(enum prompt_asker asker, char line[PROMPT_LINE_BYTES]);

/* When there is no more. */
enum prompt_status prompt_status(enum prompt_asker asker);

/* How far a command's output has come. */
struct prompt_walk {
	enum prompt_asker asker;
	bool json;
	bool only_vm; /* it does not go on to others */
	uint32_t vm;
	uint32_t vcpu;
	uint32_t line; /* of this vcpu */
};

/* A line, or "", for the place where the walk is, which then moves on. The place exists. */
typedef void prompt_line_fn(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES]);

/* core/operator/prompt_vms.c */
prompt_line_fn prompt_vms;
/* core/operator/prompt_exits.c */
prompt_line_fn prompt_exits;
/* core/operator/prompt_trace.c */
prompt_line_fn prompt_trace;
/* core/operator/prompt_pmu.c */
prompt_line_fn prompt_pmu;
/* core/operator/prompt_observe.c: a walk of prompt_observed() that begins an observation, or looks
 * at one, and ends it; "": at all. false: there is no such event, or observation. */
prompt_line_fn prompt_observed;
bool prompt_observe(struct prompt_walk *walk, const struct vm *vm, const char *event);
bool prompt_look(struct prompt_walk *walk, bool end, const char *number);

/* A word that is a number (core/lib/numbers.h) and nothing else; ~0 for any other. */
uint64_t prompt_number(const char *word);

/* core/operator/prompt_move.c: what it answers, a line in any case. */
enum prompt_status prompt_move(struct vm *vm, const char *vcpu, const char *hart,
                               char line[PROMPT_LINE_BYTES]);

/* core/operator/prompt_life.c: `start`, `stop` and `restart`; NULL: the command is none of them.
 * What one does to a VM, and its line; by its key 'g', 's' or 'r', too. */
struct life_act;
const struct life_act *prompt_life_named(const char *command);
void prompt_life(const struct life_act *act, struct vm *vm, char line[PROMPT_LINE_BYTES]);
void prompt_life_key(struct vm *vm, char key, char line[PROMPT_LINE_BYTES]);
/* `poweroff`: all VMs end for good, then the machine. */
void prompt_power_off(void);

/* Host time in microseconds. */
static inline uint64_t prompt_us(uint64_t ticks)
{
	return ticks / platform.timebase * 1000000 +
	       ticks % platform.timebase * 1000000 / platform.timebase;
}

static inline const struct vcpu *prompt_vcpu(const struct prompt_walk *walk)
{
	return vms[walk->vm].vcpus[walk->vcpu];
}

static inline void prompt_next_vm(struct prompt_walk *walk)
{
	walk->vm = walk->only_vm ? n_vms : walk->vm + 1;
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
