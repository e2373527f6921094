/* SPDX-License-Identifier: Apache-2.0 */
#include "core/prompt.h"

#include <string.h>

#include "core/console.h"
#include "core/printf.h"

static const char *const help[] = {
    "vms: state, uptime, vcpus, harts and memory of each VM",
    "exits: of each vcpu, by cause, with what they cost",
    "pmu: of each vcpu, the counters that its guest has configured",
    "  each of them with --json: one object a line",
    "start VM, stop VM, restart VM",
    "move VM VCPU HART: to another of the harts that it may run on",
    "exit, or Ctrl-T twice: back to the guest",
    NULL,
};

static const struct {
	const char *name;
	prompt_line_fn *line;
} tables[] = {
    {"vms", prompt_vms},
    {"exits", prompt_exits},
    {"pmu", prompt_pmu},
};

static const struct {
	const char *name;
	bool (*act)(struct vm *vm);
	const char *done, *idle;
} acts[] = {
    {"start", vm_start, "is being started", "runs already"},
    {"stop", vm_stop, "is being stopped", "is off already"},
    {"restart", vm_restart, "is being restarted", ""},
};

/* What is left of a command. Only the parts that belong to it mean anything. */
static struct job {
	char text[CONSOLE_COMMAND_BYTES + 1];
	bool typed; /* text is still to be understood */
	enum prompt_status status;
	prompt_line_fn *table;    /* NULL: none; ... */
	struct prompt_walk walk;  /* ... and how far it is */
	const char *const *lines; /* NULL: none */
} jobs[PROMPT_ASKERS];

void prompt_begin(enum prompt_asker asker, const char *text)
{
	struct job *job = &jobs[asker];

	*job = (struct job){.typed = true, .status = text ? PROMPT_OK : PROMPT_WRONG};
	if (text)
		(void)tally_snprintf(job->text, sizeof(job->text), "%s", text);
}

/* Cuts the next word off *at; "" at the end. */
static const char *word(char **at)
{
	char *begin = *at;
	char *end;

	while (*begin == ' ')
		begin++;
	for (end = begin; *end != ' ' && *end != '\0'; end++)
		;
	*at = *end != '\0' ? end + 1 : end;
	*end = '\0';
	return begin;
}

static struct vm *vm_named(const char *name)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		if (strcmp(vms[i].config->name, name) == 0)
			return &vms[i];
	}
	return NULL;
}

/* true: there is a line, and it is the only one. */
static bool take_table(struct job *job, uint32_t i, const char *option, char *line)
{
	bool json = strcmp(option, "--json") == 0;

	if (*option != '\0' && !json) {
		job->status = PROMPT_WRONG;
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s takes --json or nothing",
		                     tables[i].name);
		return true;
	}
	job->table = tables[i].line;
	job->walk = (struct prompt_walk){.json = json};
	return false;
}

/* NULL, with a line that says so: no VM is called that. */
static struct vm *vm_of(struct job *job, const char *command, const char *name, char *line)
{
	struct vm *vm = vm_named(name);

	if (vm)
		return vm;
	job->status = PROMPT_FAILED;
	(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s: no VM is called \"%s\"", command, name);
	return NULL;
}

static void act(struct job *job, uint32_t i, const char *name, char *line)
{
	struct vm *vm = vm_of(job, acts[i].name, name, line);

	if (vm)
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s %s", name,
		                     acts[i].act(vm) ? acts[i].done : acts[i].idle);
}

static void move(struct job *job, const char *name, const char *vcpu, const char *hart, char *line)
{
	struct vm *vm = vm_of(job, "move", name, line);

	if (vm)
		job->status = prompt_move(vm, vcpu, hart, line);
}

/* As above. */
static bool understand(struct job *job, char *line)
{
	char *at = job->text;
	const char *name = word(&at);
	const char *argument = word(&at);
	const char *third = word(&at), *fourth = word(&at);
	bool more = *third != '\0';

	if (strcmp(name, "move") == 0 && *word(&at) == '\0') {
		move(job, argument, third, fourth, line);
		return true;
	}
	for (uint32_t i = 0; !more && i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(tables[i].name, name) == 0)
			return take_table(job, i, argument, line);
	}
	for (uint32_t i = 0; !more && i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (strcmp(acts[i].name, name) == 0) {
			act(job, i, argument, line);
			return true;
		}
	}
	if (*name == '\0' && job->status == PROMPT_OK)
		return false;
	if (strcmp(name, "help") == 0 && *argument == '\0') {
		job->lines = help;
		return false;
	}
	job->status = PROMPT_WRONG;
	(void)tally_snprintf(line, PROMPT_LINE_BYTES,
	                     "no such command; help lists those that there are");
	return true;
}

bool prompt_line(enum prompt_asker asker, char line[PROMPT_LINE_BYTES])
{
	struct job *job = &jobs[asker];

	if (job->typed) {
		job->typed = false;
		if (understand(job, line))
			return true;
	}
	if (job->lines && *job->lines) {
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s", *job->lines++);
		return true;
	}
	if (!job->table || job->walk.vm >= n_vms)
		return false;
	job->table(&job->walk, line);
	return true;
}

enum prompt_status prompt_status(enum prompt_asker asker)
{
	return jobs[asker].status;
}
