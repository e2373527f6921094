/* SPDX-License-Identifier: Apache-2.0 */
#include "core/prompt.h"

#include <string.h>

#include "core/console.h"
#include "core/platform.h"
#include "core/printf.h"
#include "core/trace.h"

/* Between two lines of a command's output guests run: one line a stay in HS. */
#define LINES_HZ 10000UL

#define TOP_SECONDS     2U
#define TOP_MAX_SECONDS 60U

static const char *const help[] = {
    "vms: state, uptime, vcpus, harts and memory of each VM",
    "exits: of each vcpu, by cause, with what they cost, and how many a second",
    "pmu: of each vcpu, the counters that its guest has configured",
    "trace on [VM], trace off; trace: the exits that came last",
    "observe VM EVENT: counts an event, as instructions:u, of a whole VM from now on",
    "observed [NUMBER]: what has been counted; unobserve [NUMBER]: the last of it",
    "  vms, exits, pmu, trace and these with --json: one object a line",
    "top [SECONDS]: what goes on, each 2 seconds, until a key is pressed",
    "start VM, stop VM, restart VM; poweroff: stops all, then the machine",
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

/* What is left of a command. Only the parts that belong to it mean anything. */
static struct job {
	char text[CONSOLE_COMMAND_BYTES + 1];
	bool typed; /* text is still to be understood */
	enum prompt_status status;
	prompt_line_fn *table;    /* NULL: none; ... */
	struct prompt_walk walk;  /* ... and how far it is */
	const char *const *lines; /* NULL: none */
	bool power_off;           /* to do when the answer has been given */
	uint32_t top_seconds;     /* 0: this is no `top` */
	uint32_t top_lines;       /* written so far */
	uint32_t top_again;       /* that is a whole screen of it: so many lines are replaced */
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

static void walk_along(struct job *job, prompt_line_fn *table, bool json)
{
	job->table = table;
	job->walk = (struct prompt_walk){.asker = (enum prompt_asker)(job - jobs), .json = json};
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
	walk_along(job, tables[i].line, json);
	return false;
}

/* Programs have `exits`, which says more, and no key that would end it. */
static bool take_top(struct job *job, const char *seconds, char *line)
{
	uint32_t n = *seconds ? 0 : TOP_SECONDS;

	for (; *seconds >= '0' && *seconds <= '9' && n <= TOP_MAX_SECONDS; seconds++)
		n = n * 10 + (uint32_t)(*seconds - '0');
	if (*seconds || !n || n > TOP_MAX_SECONDS || job == &jobs[PROMPT_PROGRAM]) {
		job->status = PROMPT_WRONG;
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "top takes 1 to %u seconds, and is for people",
		                     TOP_MAX_SECONDS);
		return true;
	}
	walk_along(job, prompt_top, false);
	job->top_seconds = n;
	return false;
}

static bool take_trace(struct job *job, const char *option, const char *name, char *line)
{
	const struct vm *vm = *name ? vm_named(name) : NULL;
	bool on = strcmp(option, "on") == 0;
	bool json = strcmp(option, "--json") == 0;

	if ((*option == '\0' || json) && *name == '\0') {
		walk_along(job, prompt_trace, json);
		return false;
	}
	if ((!on && strcmp(option, "off") != 0) || (!on && *name)) {
		job->status = PROMPT_WRONG;
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "trace takes on, on VM, off, --json or nothing");
	} else if (*name && !vm) {
		job->status = PROMPT_FAILED;
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "trace: no VM is called \"%s\"",
		                     name);
	} else {
		trace_switch(vm, on);
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "trace is %s", on ? "on" : "off");
	}
	return true;
}

static void take_life(struct job *job, const struct life_act *act, const char *command,
                      const char *name, char *line)
{
	struct vm *vm = vm_named(name);

	if (vm) {
		prompt_life(act, vm, line);
	} else if (*name == '\0') {
		job->status = PROMPT_WRONG;
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s takes the name of a VM", command);
	} else {
		job->status = PROMPT_FAILED;
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s: no VM is called \"%s\"", command,
		                     name);
	}
}

static void take_move(struct job *job, const char *name, const char *vcpu, const char *hart,
                      char *line)
{
	struct vm *vm = vm_named(name);

	job->status = *hart ? PROMPT_FAILED : PROMPT_WRONG;
	if (*hart == '\0')
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "move takes a VM, the number of its vcpu, and a hart");
	else if (vm)
		job->status = prompt_move(vm, vcpu, hart, line);
	else
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "move: no VM is called \"%s\"", name);
}

/* false: it is none of these commands. A line: what is wrong with it. */
static bool take_observation(struct job *job, const char *name, const char *words[3], char *line)
{
	bool begin = strcmp(name, "observe") == 0;
	bool end = strcmp(name, "unobserve") == 0;
	uint32_t n = 3;
	const char *wrong = NULL;
	struct vm *vm;

	if (!begin && !end && strcmp(name, "observed") != 0)
		return false;
	while (n > 0 && *words[n - 1] == '\0')
		n--;
	job->walk = (struct prompt_walk){.asker = (enum prompt_asker)(job - jobs)};
	job->walk.json = n > 0 && strcmp(words[n - 1], "--json") == 0;
	n -= job->walk.json;
	job->status = PROMPT_WRONG;
	*line = '\0';
	vm = n == 2 ? vm_named(words[0]) : NULL;
	if (!begin) {
		wrong = n > 1 ? "it takes one number, or none"
		              : prompt_look(&job->walk, end, n ? words[0] : "");
	} else if (n == 2 && !vm) {
		job->status = PROMPT_FAILED;
		wrong = "no VM is called that";
	} else {
		wrong = prompt_observe(&job->walk, vm, vm ? words[1] : "");
	}
	if (wrong) {
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s: %s", name, wrong);
		return true;
	}
	job->status = PROMPT_OK;
	job->table = prompt_observed;
	return true;
}

/* As above. */
static bool understand(struct job *job, char *line)
{
	char *at = job->text;
	const char *name = word(&at);
	const char *argument = word(&at);
	const char *third = word(&at);
	const char *fourth = word(&at);
	const struct life_act *act = prompt_life_named(name);
	bool more = *third != '\0';

	if (strcmp(name, "trace") == 0 && *fourth == '\0')
		return take_trace(job, argument, third, line);
	if (strcmp(name, "move") == 0 && *word(&at) == '\0') {
		take_move(job, argument, third, fourth, line);
		return true;
	}
	if (strcmp(name, "top") == 0 && !more)
		return take_top(job, argument, line);

	if (*word(&at) == '\0' &&
	    take_observation(job, name, (const char *[]){argument, third, fourth}, line))
		return *line != '\0';
	for (uint32_t i = 0; !more && i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (strcmp(tables[i].name, name) == 0)
			return take_table(job, i, argument, line);
	}
	if (act && !more) {
		take_life(job, act, name, argument, line);
		return true;
	}
	if (strcmp(name, "poweroff") == 0 && *argument == '\0') {
		job->power_off = true;
		(void)tally_snprintf(line, PROMPT_LINE_BYTES,
		                     "all VMs are being stopped, then the machine goes off");
		return true;
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
	if (job->power_off)
		prompt_power_off();
	if (!job->table)
		return false;
	if (job->walk.vm >= n_vms) {
		if (!job->top_seconds)
			return false;
		walk_along(job, job->table, false);
		job->top_again = job->top_lines;
		job->top_lines = 0;
	} else {
		job->top_again = 0;
	}
	job->table(&job->walk, line);
	job->top_lines++;
	return true;
}

uint64_t prompt_pause(enum prompt_asker asker)
{
	const struct job *job = &jobs[asker];

	if (job->top_seconds && job->walk.vm >= n_vms)
		return job->top_seconds * (uint64_t)platform.timebase;
	return platform.timebase / LINES_HZ;
}

bool prompt_repeats(enum prompt_asker asker)
{
	return jobs[asker].top_seconds;
}

uint32_t prompt_replaces(enum prompt_asker asker)
{
	return jobs[asker].top_again;
}

void prompt_stop(enum prompt_asker asker)
{
	jobs[asker].table = NULL;
	jobs[asker].top_seconds = 0;
}

enum prompt_status prompt_status(enum prompt_asker asker)
{
	return jobs[asker].status;
}
