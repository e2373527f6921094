/* SPDX-License-Identifier: Apache-2.0 */
#include "core/operator/prompt.h"

#include <stdarg.h>
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "core/console/port.h"
#include "core/lib/numbers.h"
#include "core/lib/printf.h"
#include "core/life/shutdown.h"
#include "core/operator/prompt_server.h"
#include "core/operator/terminal.h"
#include "core/sched/vcpu_move.h"
#include "core/watch/observe.h"

static prompt_fn life, ask_shutdown, move, power_off, frames, help, keys;

/* Who may give a command beside the serial line: no VM, or an operator in the VM tree. ALL: it
 * slows or ends all VMs, so the operator has to control each of them. */
enum { SERIAL = VM_OPERATOR_NONE, WATCH = VM_OPERATOR_WATCH, CONTROL = VM_OPERATOR_CONTROL, ALL };

struct command {
	const char *name, *takes; /* its further words, each behind a blank */
	uint32_t least, most;     /* words, with its name */
	prompt_fn *answer;
	const char *does;
	uint8_t needs;
	bool json;
};

static const struct command commands[] = {
    {"vms", "", 1, 1, prompt_vms, "state, uptime, vcpus, harts and memory of each VM", WATCH, true},
    {"exits", "", 1, 1, prompt_exits, "of each vcpu, how many by cause, and what they cost", WATCH,
     true},
    {"pmu", "", 1, 1, prompt_pmu, "of each vcpu, the counters that its guest has configured", WATCH,
     true},
    {"trace", " [on [VM] | off]", 1, 3, prompt_trace, "notes exits; shows those that came last",
     ALL, true},
    {"crash", " VM", 2, 2, prompt_crash,
     "what is left of it since it failed last: registers, text, exits", CONTROL, true},
    {"last", " VM", 2, 2, prompt_last, "how its last life has ended, and the end of its text",
     CONTROL, true},
    {"observe", " VM EVENT", 3, 3, prompt_observe,
     "counts an event of a whole VM from now on: instructions:u, 0x20000/0x1234:k", WATCH, true},
    {"sample", " VM EVENT PERIOD|RATEhz [CALLERS]", 4, 5, prompt_observe,
     "notes where a VM is each time; observed and unobserve take it", WATCH, true},
    {"stays", " on [VM] | off", 2, 3, prompt_stays, "notes each stay in HS; samples takes them",
     ALL, true},
    {"samples", "", 1, 1, prompt_samples, "takes what was noted, for programs", SERIAL, false},
    {"account", " VM", 2, 2, prompt_observe,
     "counts to which of its exits Tally's instructions go; unobserve ends it", ALL, true},
    {"accounts", "", 1, 1, prompt_accounts, "what they went to so far", ALL, true},
    {"observed", " [NUMBER]", 1, 2, prompt_observed, "what has been counted", WATCH, true},
    {"unobserve", " [NUMBER]", 1, 2, prompt_observed, "the last of it", WATCH, true},
    {"start", " VM", 2, 2, life, "starts one that is off", CONTROL, false},
    {"shutdown", " VM [SECONDS]", 2, 3, ask_shutdown,
     "asks its guest to shut down, in 5 to 3600 seconds", CONTROL, false},
    {"stop", " VM", 2, 2, life, "pulls the plug", CONTROL, false},
    {"restart", " VM", 2, 2, life, "stops and starts it", CONTROL, false},
    {"move", " VM VCPU HART", 4, 4, move, "to another of the harts that it may run on", CONTROL,
     false},
    {"link", " VM up|down [NETWORK]", 3, 4, prompt_link,
     "sets the links of its ports, or of the one on a network", CONTROL, false},
    {"time", " [SECONDS]", 1, 2, prompt_clock,
     "the machine's time of day; with seconds since 1970 sets it for all VMs", WATCH, true},
    {"poweroff", "", 1, 1, power_off, "pulls the plug of all VMs, asks none", ALL, false},
    {"frames", " on | off", 2, 2, frames, "for programs (docs/frames.md)", SERIAL, false},
    {"help", "", 1, 1, help, "these lines", WATCH, false},
    {"keys", "", 1, 1, keys, "the keys after Ctrl-T, and the VMs", SERIAL, false},
    {"exit", "", 1, 1, NULL, "back to the guest, as Ctrl-T twice", SERIAL, false},
};

const char *console_command_name(unsigned int n)
{
	return n < ARRAY_SIZE(commands) ? commands[n].name : NULL;
}

/* The current command, or the last one. */
static struct prompt prompt;

void prompt_answer(struct prompt *p, enum prompt_status status, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	text_vadd(&p->out, format, args);
	va_end(args);
	p->status = status;
	p->vm = n_vms;
}

void prompt_wrong(struct prompt *p)
{
	prompt_answer(p, PROMPT_WRONG, "usage: %s%s%s", p->word[0], p->takes,
	              p->takes_json ? " [--json]" : "");
}

uint64_t prompt_number(const char *word)
{
	uint64_t n;

	return number_cut(&word, &n) && *word == '\0' ? n : ~0UL;
}

struct vm *prompt_vm_named(struct prompt *p, const char *name)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		if (p->vms >> i & 1 && strcmp(vms[i].config->name, name) == 0)
			return &vms[i];
	}
	/* A VM is not told which other VMs there are. */
	prompt_answer(p, PROMPT_FAILED,
	              p->rights ? "%s: \"%s\" is not in operator-vms"
	                        : "%s: no VM is called \"%s\"",
	              p->word[0], name);
	return NULL;
}

bool prompt_on_or_off(struct prompt *p, bool *on, const struct vm **vm)
{
	*on = strcmp(p->word[1], "on") == 0;
	*vm = NULL;
	if (!*on && (p->n_words == 3 || strcmp(p->word[1], "off") != 0)) {
		prompt_wrong(p);
		return false;
	}
	if (p->n_words < 3)
		return true;
	*vm = prompt_vm_named(p, p->word[2]);
	return *vm;
}

bool prompt_own_trace(struct prompt *p, uint32_t *owner, bool on)
{
	if (p->rights && *owner && *owner != p->client + 1) {
		prompt_answer(p, PROMPT_FAILED, "%s: another operator traces", p->word[0]);
		return false;
	}
	*owner = on ? p->client + 1 : 0;
	return true;
}

void prompt_vcpu_names(struct prompt *p, const struct vcpu *vcpu)
{
	text_add(&p->out, "{'vm':'%s','vcpu':%u", vcpu->vm->config->name, vcpu->id);
}

void prompt_tell(struct prompt *p)
{
	text_add(&p->out, "}");
	p->part = 0;
	p->told = true;
	p->string = false;
	p->from = p->to = 0;
}

/* Characters of a line that are made JSON or text in one stay. */
#define CHARACTERS 160U

/* Returns false if it has not reached the end of the line. As text, the line loses its outer braces
 * and its quotes; from[-1] is as it was, because `to` is behind it. */
static bool finish(struct prompt *p)
{
	char *from = p->line + p->from, *to = p->line + p->to, *end = from + CHARACTERS;
	bool json = p->json, string = p->string;

	for (; *from != '\0' && from < end; from++) {
		bool quote = *from == '\'';

		string = string != quote;
		if (json)
			*to++ = quote ? '"' : *from;
		else if (quote ? from[-1] == ',' : from != p->line && from[1] != '\0')
			*to++ = quote || (*from == ':' && !string) ? ' ' : *from;
	}
	p->told = *from != '\0';
	p->string = string;
	p->from = (uint32_t)(from - p->line);
	p->to = (uint32_t)(to - p->line);
	if (!p->told)
		*to = '\0';
	return !p->told;
}

void prompt_next_vm(struct prompt *p)
{
	p->vm++;
	p->vcpu = 0;
	p->row = 0;
}

void prompt_next_vcpu(struct prompt *p)
{
	p->row = 0;
	if (++p->vcpu >= vms[p->vm].config->n_vcpus)
		prompt_next_vm(p);
}

static const struct {
	const char *name;
	enum vm_command command;
	const char *done, *idle;
} acts[] = {
    {"start", VM_COMMAND_START, "is being started", "runs already"},
    {"stop", VM_COMMAND_STOP, "is being stopped", "is off already"},
    {"restart", VM_COMMAND_RESTART, "is being restarted", ""},
};

static void life(struct prompt *p)
{
	struct vm *vm = prompt_vm_named(p, p->word[1]);
	const struct vm_device *device;
	uint32_t i = 0;

	while (strcmp(acts[i].name, p->word[0]) != 0)
		i++;
	if (!vm)
		return;
	device = acts[i].command == VM_COMMAND_STOP ? NULL : vm_needs_reset(vm);
	if (device)
		prompt_answer(p, PROMPT_FAILED,
		              "%s: %s has one life: no reset of its device %s is known", p->word[0],
		              vm->config->name, device->name);
	else
		prompt_answer(p, PROMPT_OK, "%s %s", vm->config->name,
		              vm_give_command(vm, acts[i].command) ? acts[i].done : acts[i].idle);
}

static void ask_shutdown(struct prompt *p)
{
	static const char *const answers[] = {
	    [VM_ANSWER_TAKEN] = "%s has %lu s to sync and power off",
	    [VM_ANSWER_ALREADY] = "%s is off already",
	    [VM_ANSWER_BUSY] = "shutdown: %s starts, ends or was asked",
	    [VM_ANSWER_NO_WAY] = "shutdown: %s has shutdown = \"none\": stop pulls the plug",
	    [VM_ANSWER_CLOSED] = "shutdown: %s: its kernel has not opened the console",
	};
	struct vm *vm = prompt_vm_named(p, p->word[1]);
	uint64_t s = p->n_words == 3 ? prompt_number(p->word[2]) : SHUTDOWN_S_DEFAULT;
	enum vm_answer answer;
	const char *text;

	if (!vm)
		return;
	if (s < SHUTDOWN_S_MIN || s > SHUTDOWN_S_MAX) {
		prompt_wrong(p);
		return;
	}
	answer = shutdown_ask(vm, (uint32_t)s);
	text = answers[answer];
	if (vm->key && answer == VM_ANSWER_TAKEN)
		text = "%s has %lu s to shut down";
	else if (vm->key && answer == VM_ANSWER_CLOSED)
		text = "shutdown: %s: its kernel has no driver for the power key";
	prompt_answer(p, answer <= VM_ANSWER_ALREADY ? PROMPT_OK : PROMPT_FAILED, text,
	              vm->config->name, s);
}

/* Ends all VMs for good, and then the machine. Answers before that. */
static void power_off(struct prompt *p)
{
	if (p->row++ == 0) {
		text_add(&p->out, "all VMs are being stopped, then the machine goes off");
		return;
	}
	for (; p->vm < n_vms; p->vm++)
		(void)vm_give_command(&vms[p->vm], VM_COMMAND_POWER_OFF);
}

static void move(struct prompt *p)
{
	struct vm *vm = prompt_vm_named(p, p->word[1]);
	uint64_t vcpu = prompt_number(p->word[2]), hart = prompt_number(p->word[3]);

	if (!vm)
		return;
	if (vcpu >= vm->config->n_vcpus)
		prompt_answer(p, PROMPT_FAILED, "move: %s has no vcpu \"%s\"", vm->config->name,
		              p->word[2]);
	else if (vm->config->aia)
		prompt_answer(p, PROMPT_FAILED, "move: %s has an AIA: its vcpus keep their harts",
		              vm->config->name);
	else if (!vcpu_move(vm->vcpus[vcpu], hart))
		prompt_answer(p, PROMPT_FAILED,
		              "move: hart \"%s\" is not among the harts of %s vcpu %lu", p->word[3],
		              vm->config->name, vcpu);
	else
		prompt_answer(p, PROMPT_OK, "%s vcpu %lu moves to hart %lu", vm->config->name, vcpu,
		              hart);
}

/* Turns frames on or off. Then sends each VM's name and unfinished line, a piece in each stay in
 * HS. They are part of the answer, so no VM can delay them by its output. */
static void frames(struct prompt *p)
{
	const struct vm *none;
	bool on;

	if (!prompt_on_or_off(p, &on, &none))
		return;
	if (p->vm == 0 && p->row++ == 0) {
		terminal_frames(on);
		return;
	}
	if (terminal_frames_vm(p->vm))
		prompt_next_vm(p);
}

static void help(struct prompt *p)
{
	const struct command *c = &commands[p->row++];

	text_add(&p->out, "%s%s%s: %s", c->name, c->takes, c->json ? " [--json]" : "", c->does);
	if (p->row == ARRAY_SIZE(commands))
		p->vm = n_vms;
}

static void keys(struct prompt *p)
{
	if (!terminal_help(p->row++, &p->out))
		p->vm = n_vms;
}

/* Cuts the text into words. Words beyond those that a command can take are only counted. */
static void split(struct prompt *p)
{
	for (char *at = p->text; *at != '\0'; at++) {
		if (*at == ' ')
			*at = '\0';
		else if ((at == p->text || at[-1] == '\0') && p->n_words++ < PROMPT_MOST_WORDS)
			p->word[p->n_words - 1] = at;
	}
	if (p->n_words > 1 && p->n_words <= PROMPT_MOST_WORDS)
		p->json = strcmp(p->word[p->n_words - 1], "--json") == 0;
	p->n_words -= p->json;
}

/* The one place that decides whether the client may give the command. Which VMs it concerns is
 * checked by prompt_vm_named() and prompt_step(). */
static bool may(struct prompt *p, const struct command *c)
{
	if (!p->rights || (c->needs != SERIAL && c->needs <= p->access))
		return true;
	prompt_answer(p, PROMPT_FAILED,
	              c->needs == SERIAL    ? "%s: only the serial line may"
	              : p->access < CONTROL ? "%s: needs operator = \"control\""
	                                    : "%s: slows or ends all VMs, so operator-vms must "
	                                      "name each of them",
	              p->word[0]);
	return false;
}

/* The first line of the answer is made in a stay of its own. */
static void understand(struct prompt *p)
{
	split(p);
	if (p->n_words == 0) {
		p->vm = n_vms;
		return;
	}
	for (const struct command *c = commands; c->answer; c++) {
		if (strcmp(c->name, p->word[0]) != 0)
			continue;
		p->takes = c->takes;
		p->takes_json = c->json;
		p->next = c->answer;
		if (p->n_words < c->least || p->n_words > c->most || (p->json && !c->json))
			prompt_wrong(p);
		else
			(void)may(p, c);
		return;
	}
	prompt_answer(p, PROMPT_WRONG, "no such command; help lists those that there are");
}

void prompt_start(uint32_t client, const struct vm_operator *rights, const char *text)
{
	prompt = (struct prompt){.next = understand,
	                         .client = client,
	                         .rights = rights,
	                         .vms = rights ? rights->vms : ~0U};
	if (rights)
		prompt.access = rights->access;
	if (prompt.access == CONTROL && prompt.vms == BIT(n_vms) - 1)
		prompt.access = ALL;
	(void)tally_snprintf(prompt.text, sizeof(prompt.text), "%s", text);
}

/* Lines about VMs that the client may not name are not made. */
static void skip(struct prompt *p)
{
	while (p->vm < n_vms && !(p->vms >> p->vm & 1))
		prompt_next_vm(p);
}

const char *prompt_step(enum prompt_status *status)
{
	struct prompt *p = &prompt;

	*status = p->status;
	if (p->told)
		return finish(p) ? p->line : "";
	if (atomic_load(&observe_request.vcpus))
		return "";
	if (!p->part)
		p->out = text_begin(p->line, sizeof(p->line));
	skip(p);
	if (p->vm < n_vms)
		prompt.next(&prompt);
	*status = p->status;
	if (p->told || p->part)
		return "";
	return p->vm < n_vms || *p->line != '\0' ? p->line : NULL;
}

/* The serial line's next command, until it has the prompt. */
static char typed[CONSOLE_COMMAND_BYTES + 1];

void prompt_begin(const char *text)
{
	(void)tally_snprintf(typed, sizeof(typed), "%s", text ? text : "?");
	prompt_wait_serial();
}

const char *prompt_line(enum prompt_status *status)
{
	const char *line = "";

	*status = PROMPT_OK;
	if (!prompt_enter())
		return line;
	if (!prompt_holds(PROMPT_SERIAL) && prompt_take(PROMPT_SERIAL, csr_read(CSR_TIME)))
		prompt_start(PROMPT_SERIAL, NULL, typed);
	if (prompt_holds(PROMPT_SERIAL))
		line = prompt_step(status);
	if (!line)
		prompt_release(PROMPT_SERIAL);
	prompt_leave();
	return line;
}

uint32_t prompt_line_length(void)
{
	return (uint32_t)prompt.out.length;
}
