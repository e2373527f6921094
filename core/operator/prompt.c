/* SPDX-License-Identifier: Apache-2.0 */
#include "core/operator/prompt.h"

#include <stdarg.h>
#include <string.h>

#include "core/console/console.h"
#include "core/lib/numbers.h"
#include "core/operator/terminal.h"
#include "core/vm/platform.h"
#include "core/lib/printf.h"
#include "core/vm/trace.h"

static const char *const help[] = {
    "vms: state, uptime, vcpus, harts and memory of each VM",
    "exits: of each vcpu, how many by cause, and what they cost",
    "pmu: of each vcpu, the counters that its guest has configured",
    "trace on [VM], trace off; trace: the exits that came last",
    "observe VM EVENT: counts an event, as instructions:u, of a whole VM from now on",
    "observed [NUMBER]: what has been counted; unobserve [NUMBER]: the last of it",
    "  vms, exits, pmu, trace and these with --json: one object a line",
    "start VM, stop VM, restart VM; poweroff: stops all, then the machine",
    "frames on, frames off: for programs (docs/frames.md)",
    "move VM VCPU HART: to another of the harts that it may run on",
    "exit, or Ctrl-T twice: back to the guest",
    NULL,
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

uint64_t prompt_number(const char *text)
{
	uint64_t n;

	return number_cut(&text, &n) && *text == '\0' ? n : ~0UL;
}

/* What is typed behind a command's name. */
#define MOST_WORDS 3U

struct words {
	uint32_t n;
	bool json; /* --json was the last one, and is not among these */
	const char *word[MOST_WORDS];
};

static void answer(struct job *job, enum prompt_status status, char *line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void answer(struct job *job, enum prompt_status status, char *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tally_vsnprintf(line, PROMPT_LINE_BYTES, format, args);
	va_end(args);
	job->status = status;
}

/* The VM of that name; NULL: there is none, and that has been answered. */
static struct vm *vm_named(struct job *job, const char *command, const char *name, char *line)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		if (strcmp(vms[i].config->name, name) == 0)
			return &vms[i];
	}
	answer(job, PROMPT_FAILED, line, "%s: no VM is called \"%s\"", command, name);
	return NULL;
}

static void walk_along(struct job *job, prompt_line_fn *table, bool json)
{
	job->table = table;
	job->walk = (struct prompt_walk){.asker = (enum prompt_asker)(job - jobs), .json = json};
}

/*
 * A command: what it is to be told where its words are wrong, how many there may be, and what
 * carries it out. That writes the answer if it is one line, or names the table that writes it.
 */
struct command {
	const char *name, *takes;
	uint32_t least, most;
	bool json;
	void (*carry_out)(struct job *job, const struct command *c, const struct words *w,
	                  char *line);
	prompt_line_fn *table;
};

static void wrong(struct job *job, const struct command *c, char *line)
{
	answer(job, PROMPT_WRONG, line, "%s takes %s", c->name, c->takes);
}

static void show_table(struct job *job, const struct command *c, const struct words *w, char *line)
{
	(void)line;
	walk_along(job, c->table, w->json);
}

static void trace(struct job *job, const struct command *c, const struct words *w, char *line)
{
	bool on = w->n && strcmp(w->word[0], "on") == 0;
	bool off = w->n == 1 && strcmp(w->word[0], "off") == 0;
	const struct vm *vm = NULL;

	if (!w->n) {
		walk_along(job, c->table, w->json);
		return;
	}
	if ((!on && !off) || w->json) {
		wrong(job, c, line);
		return;
	}
	if (w->n == 2) {
		vm = vm_named(job, c->name, w->word[1], line);
		if (!vm)
			return;
	}
	trace_switch(vm, on);
	answer(job, PROMPT_OK, line, "trace is %s", on ? "on" : "off");
}

static void life(struct job *job, const struct command *c, const struct words *w, char *line)
{
	struct vm *vm = vm_named(job, c->name, w->word[0], line);

	if (vm)
		prompt_life(prompt_life_named(c->name), vm, line);
}

static void move(struct job *job, const struct command *c, const struct words *w, char *line)
{
	struct vm *vm = vm_named(job, c->name, w->word[0], line);

	if (vm)
		job->status = prompt_move(vm, w->word[1], w->word[2], line);
}

static void observe(struct job *job, const struct command *c, const struct words *w, char *line)
{
	const struct vm *vm = NULL;

	walk_along(job, c->table, w->json);
	if (w->n == 2)
		vm = vm_named(job, c->name, w->word[0], line);
	if (w->n == 2 && !vm)
		job->table = NULL;
	else if (!vm || !prompt_observe(&job->walk, vm, w->word[1])) {
		job->table = NULL;
		wrong(job, c, line);
	}
}

static void observed(struct job *job, const struct command *c, const struct words *w, char *line)
{
	bool end = strcmp(c->name, "unobserve") == 0;

	walk_along(job, c->table, w->json);
	if (prompt_look(&job->walk, end, w->n ? w->word[0] : ""))
		return;
	job->table = NULL;
	answer(job, PROMPT_WRONG, line, "%s: there is no observation of that number", c->name);
}

static void power_off(struct job *job, const struct command *c, const struct words *w, char *line)
{
	(void)c, (void)w;
	job->power_off = true;
	answer(job, PROMPT_OK, line, "all VMs are being stopped, then the machine goes off");
}

/* One VM in each stay in HS. */
static void kept_lines(struct prompt_walk *walk, char line[PROMPT_LINE_BYTES])
{
	*line = '\0';
	terminal_frames_kept(walk->vm);
	prompt_next_vm(walk);
}

static void frames(struct job *job, const struct command *c, const struct words *w, char *line)
{
	bool on = strcmp(w->word[0], "on") == 0;

	if (!on && strcmp(w->word[0], "off") != 0) {
		wrong(job, c, line);
		return;
	}
	terminal_frames(on);
	if (on)
		walk_along(job, kept_lines, false);
}

static void show_help(struct job *job, const struct command *c, const struct words *w, char *line)
{
	(void)c, (void)w, (void)line;
	job->lines = help;
}

static const struct command commands[] = {
    {"vms", "--json or nothing", 0, 0, true, show_table, prompt_vms},
    {"exits", "--json or nothing", 0, 0, true, show_table, prompt_exits},
    {"pmu", "--json or nothing", 0, 0, true, show_table, prompt_pmu},
    {"trace", "on, on VM, off, --json or nothing", 0, 2, true, trace, prompt_trace},
    {"observe", "a VM and an event, as instructions:u or 0x20000/0x1234:k", 2, 2, true, observe,
     prompt_observed},
    {"observed", "one number, or none", 0, 1, true, observed, prompt_observed},
    {"unobserve", "one number, or none", 0, 1, true, observed, prompt_observed},
    {"start", "the name of a VM", 1, 1, false, life, NULL},
    {"stop", "the name of a VM", 1, 1, false, life, NULL},
    {"restart", "the name of a VM", 1, 1, false, life, NULL},
    {"move", "a VM, the number of its vcpu, and a hart", 3, 3, false, move, NULL},
    {"poweroff", "nothing", 0, 0, false, power_off, NULL},
    {"frames", "on or off", 1, 1, false, frames, NULL},
    {"help", "nothing", 0, 0, false, show_help, NULL},
};

/* false: there are more than any command takes. */
static bool split(char *at, struct words *w)
{
	const char *next;

	*w = (struct words){.n = 0};
	while (*(next = word(&at)) != '\0') {
		if (w->json || w->n == MOST_WORDS)
			return false;
		if (strcmp(next, "--json") == 0)
			w->json = true;
		else
			w->word[w->n++] = next;
	}
	return true;
}

/* Writes a line if that is all of the answer, or the beginning of it. */
static void understand(struct job *job, char *line)
{
	char *at = job->text;
	const char *name = word(&at);
	struct words w;

	*line = '\0';
	if (*name == '\0' && job->status == PROMPT_OK)
		return;
	for (uint32_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		const struct command *c = &commands[i];

		if (strcmp(c->name, name) != 0)
			continue;
		if (!split(at, &w) || w.n < c->least || w.n > c->most || (w.json && !c->json))
			wrong(job, c, line);
		else
			c->carry_out(job, c, &w, line);
		return;
	}
	answer(job, PROMPT_WRONG, line, "no such command; help lists those that there are");
}

bool prompt_line(enum prompt_asker asker, char line[PROMPT_LINE_BYTES])
{
	struct job *job = &jobs[asker];

	if (job->typed) {
		job->typed = false;
		understand(job, line);
		if (*line != '\0')
			return true;
	}
	if (job->lines && *job->lines) {
		(void)tally_snprintf(line, PROMPT_LINE_BYTES, "%s", *job->lines++);
		return true;
	}
	if (job->power_off)
		prompt_power_off();
	if (!job->table || job->walk.vm >= n_vms)
		return false;
	job->table(&job->walk, line);
	return true;
}

enum prompt_status prompt_status(enum prompt_asker asker)
{
	return jobs[asker].status;
}
