/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers commands of the operator: of a person at the prompt, or of a program that sends requests
 * (core/console/console_keys.c). One command is answered at a time. Its output is made line by
 * line, each in a stay in HS of its own, and the guests run in between. VMs that are operators ask,
 * too (operator_rings.c); core/operator/prompt_server.h has whose turn it is.
 *
 * Vcpus of other harts are read without a lock, so their numbers may be slightly outdated, and two
 * numbers of one line may be of different moments. The caller holds the prompt and its lock, unless
 * a function says something else.
 */
#ifndef CORE_OPERATOR_PROMPT_H
#define CORE_OPERATOR_PROMPT_H

#include "core/console/console.h"
#include "core/hart/platform.h"
#include "core/hart/time_of_day.h"
#include "core/lib/text.h"
#include "core/vcpu/exit_record.h"
#include "core/vcpu/vm.h"

/* Longer lines do not fit into an answer to a VM: core/io/operator_function.h. */
#define PROMPT_LINE_BYTES 640U
#define PROMPT_MOST_WORDS 6U

/* The result of a command. Programs get it; a person reads the output. */
enum prompt_status {
	PROMPT_OK,
	PROMPT_FAILED, /* understood, but it cannot be done */
	PROMPT_WRONG,  /* no such command */
};

/* Begins to answer a command of the serial line. Prints nothing. text is NULL if a request was
 * malformed. Boot hart only, like the next one. */
void prompt_begin(const char *text);

/* Returns the next line of the output, "" if it is not ready yet, or NULL at the end, when *status
 * is the result. */
const char *prompt_line(enum prompt_status *status);

/* Returns how many characters that line would have had without truncation. */
uint32_t prompt_line_length(void);

/* A command, and the state of its output. */
struct prompt;
typedef void prompt_fn(struct prompt *p);

struct prompt {
	uint32_t client;
	const struct vm_operator *rights; /* of a VM; NULL: the serial line, which may do all */
	uint32_t vms;                     /* bit n: the client may name VM n, and is told of it */
	uint8_t access;                   /* of a VM: enum vm_operator_access, or one more: it
	                                   * controls all VMs */
	char text[CONSOLE_COMMAND_BYTES + 1]; /* the words, each ended by NUL */
	const char *word[PROMPT_MOST_WORDS];
	uint32_t n_words;
	bool json;         /* the last word was --json; n_words does not count it */
	const char *takes; /* the further words of the command, for prompt_wrong() */
	bool takes_json;   /* and --json */
	enum prompt_status status;
	/* Adds the next line to `out`, or nothing, and moves vm, vcpu and row on. Not called while
	 * what it has asked of observers is not done. The output ends at vm = n_vms. A long line is
	 * made in parts, each in a stay of its own: if it counts `part` up, it is called for the
	 * same line again. */
	prompt_fn *next;
	uint32_t part;     /* parts of this line that are made */
	bool told, string; /* for prompt_tell() */
	uint32_t from, to;
	uint32_t vm;
	uint32_t vcpu;
	uint32_t row; /* the line of this vcpu */
	struct text out;
	char line[PROMPT_LINE_BYTES];
};

/* The functions of the commands: their first `next`. */
prompt_fn prompt_vms, prompt_exits, prompt_pmu, prompt_trace, prompt_crash, prompt_last,
    prompt_observe, prompt_observed, prompt_samples, prompt_stays, prompt_accounts, prompt_clock,
    prompt_link;

/* Begins a command of a client that holds the prompt. rights NULL: it may do all. */
void prompt_start(uint32_t client, const struct vm_operator *rights, const char *text);

/* As prompt_line(), for the client whose command was begun. */
const char *prompt_step(enum prompt_status *status);

/* Adds the last line of the output, and sets the result. */
void prompt_answer(struct prompt *p, enum prompt_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Answers with the words that the command takes, because it got others. */
void prompt_wrong(struct prompt *p);

/* Reads the words "on", "on VM" or "off", with *vm = NULL for no VM. If they are others, answers so
 * and returns false. */
bool prompt_on_or_off(struct prompt *p, bool *on, const struct vm **vm);

/* A trace belongs to the client that has begun it, whose number plus 1 is in *owner; 0: to nobody.
 * Only the serial line may end that of another client, or begin one meanwhile. Sets *owner; or
 * answers so and returns false. */
bool prompt_own_trace(struct prompt *p, uint32_t *owner, bool on);

/* End what a client has begun with `stays` and `trace`. The first one may post a request to
 * observers. */
void prompt_end_stays(uint32_t client);
void prompt_end_trace(uint32_t client);

/* Returns the VM of that name. If there is none, or the client may not name it, answers so and
 * returns NULL. */
struct vm *prompt_vm_named(struct prompt *p, const char *name);

/* Returns the number in the word (core/lib/numbers.h), or ~0 if it is something else. */
uint64_t prompt_number(const char *word);

/*
 * Each line about a VM or a vcpu is a JSON object, made with ' instead of "; no string contains
 * either. prompt_vcpu_names() begins it for a vcpu, and members are added as ",'NAME':VALUE".
 * prompt_tell() ends it. With --json it is printed as JSON, otherwise as "NAME VALUE, NAME VALUE".
 */
void prompt_vcpu_names(struct prompt *p, const struct vcpu *vcpu);

void prompt_tell(struct prompt *p);

/* Adds the vcpu's names and a recorded exit. */
void prompt_add_exit(struct prompt *p, const struct exit_record *e);

static inline const char *prompt_bool(bool value)
{
	return value ? "true" : "false";
}

#define US_PER_S 1000000U

/* Converts host time to units of 1/hz of a second. */
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
