/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/operator_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY    0x14
#define PROMPT 99U
#define LONG   64U /* bytes of a command at most */
#define ANY    (~0U)

enum { OK, FAILED, WRONG };

const char *const operator_vms[OPERATOR_VMS] = {"alpha", "b", "start"};

static struct {
	unsigned int n_vms, focus, back;
	bool frames, edited;
	uint8_t after; /* KEY or '>': what comes next belongs to it */
	bool request, wrong;
	char text[LONG + 32]; /* of the request, as far as it is text */
	size_t len;
	char line[LONG + 1]; /* at the prompt */
	size_t line_len;
} m;
static void (*tell)(struct effect effect);

void operator_model_begin(unsigned int n_vms, bool frames)
{
	memset(&m, 0, sizeof(m));
	m.n_vms = n_vms;
	m.frames = frames;
}

static void say(enum effect_kind kind, uint32_t a, uint32_t b)
{
	tell((struct effect){.kind = kind, .a = a, .b = b});
}

/* --- commands ------------------------------------------------------------------------------- */

/* Decimal, or hexadecimal after 0x, of the whole word; ~0: it is none. */
static uint64_t number(const char *word)
{
	bool hex = strncmp(word, "0x", 2) == 0;
	const char *digits = hex ? "0123456789abcdef" : "0123456789";

	if (hex)
		word += 2;
	if (!*word || strspn(word, digits) != strlen(word) || strlen(word) > 16)
		return ~UINT64_C(0);
	return strtoull(word, NULL, hex ? 16 : 10);
}

static unsigned int vm_named(const char *name)
{
	for (unsigned int vm = 0; vm < m.n_vms; vm++) {
		if (strcmp(operator_vms[vm], name) == 0)
			return vm;
	}
	return ANY;
}

static unsigned int moves(char *const *word)
{
	unsigned int vm = vm_named(word[1]);
	uint64_t vcpu = number(word[2]), hart = number(word[3]);

	if (vm == ANY || vcpu >= OPERATOR_VCPUS)
		return FAILED;
	say(MOVED, vm, (uint32_t)(vcpu << 8 | hart));
	return hart == 0 ? OK : FAILED; /* the machine's only hart */
}

static unsigned int lives(const char *what, const char *name)
{
	unsigned int vm = vm_named(name);

	if (vm == ANY)
		return FAILED;
	say(ACT, vm, strcmp(what, "start") == 0 ? 'g' : (uint8_t)what[0]);
	return OK;
}

/* VM n has n ports, all of network "lan". */
static unsigned int links(char *const *word, size_t n)
{
	unsigned int vm = vm_named(word[1]);
	bool up = strcmp(word[2], "up") == 0;

	if (vm == ANY)
		return FAILED;
	if (!up && strcmp(word[2], "down") != 0)
		return WRONG;
	if (!vm || (n == 4 && strcmp(word[3], "lan") != 0))
		return FAILED;
	for (unsigned int i = 0; i < vm; i++)
		say(LINKED, vm, up);
	return OK;
}

static unsigned int shuts_down(char *const *word, size_t n)
{
	unsigned int vm = vm_named(word[1]);
	uint64_t s = n == 3 ? number(word[2]) : 30;

	if (vm == ANY)
		return FAILED;
	if (s < 5 || s > 3600)
		return WRONG;
	say(ACT, vm, (uint32_t)(s << 8 | 'o'));
	return OK;
}

static unsigned int traces(char *const *word, size_t n)
{
	bool on = strcmp(word[1], "on") == 0;

	if (!on && !(strcmp(word[1], "off") == 0 && n == 2))
		return WRONG;
	if (n == 3 && vm_named(word[2]) == ANY)
		return FAILED;
	say(TRACED, n == 3 ? vm_named(word[2]) : ANY, on);
	return OK;
}

static unsigned int notes_stays(char *const *word, size_t n)
{
	bool on = n > 1 && strcmp(word[1], "on") == 0;

	if (n < 2 || n > 3 || (!on && (n == 3 || strcmp(word[1], "off") != 0)))
		return WRONG;
	return n == 3 && vm_named(word[2]) == ANY ? FAILED : OK;
}

static unsigned int set_frames(const char *word)
{
	if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0)
		return WRONG;
	m.frames = strcmp(word, "on") == 0;
	if (m.frames && m.focus == PROMPT)
		m.focus = m.back;
	return OK;
}

/* Carries a command out. What it answers with. */
static unsigned int command(char *text)
{
	static const char *const acts[] = {"start", "stop", "restart"};
	static const char *const tells[] = {"vms",      "exits",     "pmu",
	                                    "accounts", "observe",   "sample",
	                                    "observed", "unobserve", "account"};
	char *word[40] = {NULL};
	size_t n = 0;
	bool json;

	for (char *w = strtok(text, " "); w; w = strtok(NULL, " "))
		word[n++] = w;
	if (n == 0)
		return OK;
	json = n > 1 && n <= 6 && strcmp(word[n - 1], "--json") == 0;
	n -= json;
	for (size_t i = 0; i < 3; i++) {
		if (strcmp(word[0], acts[i]) == 0)
			return n == 2 && !json ? lives(word[0], word[1]) : WRONG;
	}
	for (size_t i = 0; i < 9; i++) {
		if (strcmp(word[0], tells[i]) == 0)
			return i < 4 && n > 1 ? WRONG : i < 4 ? OK : ANY;
	}
	if (strcmp(word[0], "move") == 0)
		return n == 4 && !json ? moves(word) : WRONG;
	if (strcmp(word[0], "link") == 0)
		return (n == 3 || n == 4) && !json ? links(word, n) : WRONG;
	if (strcmp(word[0], "shutdown") == 0)
		return (n == 2 || n == 3) && !json ? shuts_down(word, n) : WRONG;
	if (strcmp(word[0], "time") == 0)
		return n == 1 ? OK : n == 2 && number(word[1]) <= UINT32_MAX ? OK : WRONG;
	if (strcmp(word[0], "trace") == 0)
		return n == 1 ? OK : n > 3 || json ? WRONG : traces(word, n);
	if (strcmp(word[0], "stays") == 0)
		return notes_stays(word, n);
	if (strcmp(word[0], "crash") == 0 || strcmp(word[0], "last") == 0)
		return n != 2 ? WRONG : vm_named(word[1]) == ANY ? FAILED : OK;
	if (strcmp(word[0], "frames") == 0)
		return n == 2 && !json ? set_frames(word[1]) : WRONG;
	if (strcmp(word[0], "help") == 0 || strcmp(word[0], "samples") == 0)
		return n == 1 && !json ? OK : WRONG;
	if (strcmp(word[0], "poweroff") == 0 && n == 1 && !json) {
		for (unsigned int vm = 0; vm < m.n_vms; vm++)
			say(ACT, vm, 'p');
		return OK;
	}
	return WRONG;
}

/* --- keys ----------------------------------------------------------------------------------- */

static unsigned int vm_in_focus(void)
{
	return m.focus == PROMPT ? m.back : m.focus;
}

static void key(uint8_t ch)
{
	unsigned int vm = vm_in_focus();
	char text[80];

	if (ch == 'n' || ch == 'p') {
		m.focus = (vm + (ch == 'n' ? 1 : m.n_vms - 1)) % m.n_vms;
	} else if (ch >= '1' && ch <= '9' && ch - '1' < (int)m.n_vms) {
		m.focus = ch - '1';
	} else if (ch == 'g' || ch == 's' || ch == 'r') {
		(void)snprintf(text, sizeof(text), "%s %s",
		               ch == 'g'   ? "start"
		               : ch == 's' ? "stop"
		                           : "restart",
		               operator_vms[vm]);
		(void)command(text);
	} else if (ch == ':' && !m.frames && m.focus != PROMPT) {
		m.back = m.focus;
		m.focus = PROMPT;
		m.line_len = 0;
	} else if (ch == '>') {
		m.after = ch;
	} else if (ch == '=') {
		m.request = true;
		m.wrong = false;
		m.len = 0;
	} else if (ch == KEY && m.focus == PROMPT) {
		m.focus = m.back;
	} else if (ch == KEY) {
		say(TO_VM, m.focus, ch);
	}
}

static void request_ends(void)
{
	struct effect answer = {.kind = ANSWER, .b = WRONG, .id = "0"};
	char *space;

	m.request = false;
	m.text[m.len] = '\0';
	space = strchr(m.text, ' ');
	if (space && space > m.text && space <= m.text + 8) {
		memcpy(answer.id, m.text, (size_t)(space - m.text));
		answer.id[space - m.text] = '\0';
		if (!m.wrong && strlen(space + 1) <= LONG)
			answer.b = command(space + 1);
	}
	tell(answer);
}

static void at_prompt(uint8_t ch)
{
	if (ch == '\r' || ch == '\n') {
		m.line[m.line_len] = '\0';
		m.line_len = 0;
		if (strcmp(m.line, "exit") == 0)
			m.focus = m.back;
		else
			(void)command(m.line);
	} else if (ch == '\t' || ch == 0x1b) {
		m.edited = true;
	} else if ((ch == 0x08 || ch == 0x7f) && m.line_len) {
		m.line_len--;
	} else if (ch == 0x03) {
		m.line_len = 0;
	} else if (ch == 0x04 && !m.line_len) {
		m.focus = m.back;
	} else if (ch >= ' ' && ch <= '~' && m.line_len < LONG) {
		m.line[m.line_len++] = (char)ch;
	}
}

void operator_model_type(uint8_t ch, void (*to)(struct effect effect))
{
	uint8_t after = m.after;

	tell = to;
	m.after = 0;
	if (after == KEY) {
		m.request = false;
		key(ch);
	} else if (ch == KEY) {
		m.after = KEY;
	} else if (after == '>') {
		if (ch >= 'A' && ch - 'A' < (int)m.n_vms)
			m.focus = ch - 'A';
	} else if (m.request && (ch == '\r' || ch == '\n')) {
		request_ends();
	} else if (m.request) {
		if (ch < ' ' || ch > '~' || m.len == sizeof(m.text) - 1)
			m.wrong = true;
		else
			m.text[m.len++] = (char)ch;
	} else if (m.focus == PROMPT) {
		at_prompt(ch);
	} else {
		say(TO_VM, m.focus, ch);
	}
}

bool operator_model_knows(void)
{
	return !m.edited;
}
