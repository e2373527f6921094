/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts typed bytes: input for the VM in focus, keys for Tally after Ctrl-T, the line at the
 * prompt, and requests of programs.
 */
#include <string.h>

#include "core/console/console_parts.h"
#include "core/console/port.h"
#include "core/lib/printf.h"

#define CTRL_C    0x03
#define CTRL_D    0x04
#define BACKSPACE 0x08
#define ESC       0x1b
#define DEL       0x7f

/* Echoes at the prompt, as if a VM in focus printed it. */
static void echo(struct console *c, const char *bytes)
{
	(void)console_vm_write(c, CONSOLE_PROMPT, bytes, strlen(bytes));
}

static void prompt_open(struct console *c)
{
	if (c->focus == CONSOLE_PROMPT)
		return;
	c->back = c->focus;
	console_line_reset(&c->lines[CONSOLE_PROMPT]);
	console_set_focus(c, CONSOLE_PROMPT);
	console_prompt_ready(c);
}

void console_prompt_ready(struct console *c)
{
	if (c->interactive && c->focus == CONSOLE_PROMPT)
		console_open(c, CONSOLE_PROMPT);
}

static void enter(struct console *c)
{
	struct console_line *l = &c->lines[CONSOLE_PROMPT];
	char text[CONSOLE_COMMAND_BYTES + 1];

	memcpy(text, l->text, l->len);
	text[l->len] = '\0';
	echo(c, "\n");
	if (strcmp(text, "exit") == 0)
		console_set_focus(c, c->back);
	else
		console_command("", text);
}

/* Whether the byte belongs to a key that sends an escape sequence (arrows, F1): ESC and a
 * character, with further ones after ESC [ and ESC O. The prompt ignores all these keys. */
static bool is_sequence(struct console *c, uint8_t ch)
{
	uint8_t begun = c->sequence;

	c->sequence = 0;
	if (ch == ESC || (begun == ESC && (ch == '[' || ch == 'O')))
		c->sequence = ch;
	else if (begun == '[' && ch >= ' ' && ch < '@')
		c->sequence = begun;
	return ch == ESC || (begun && ch >= ' ');
}

static void prompt_key(struct console *c, uint8_t ch)
{
	const struct console_line *l = &c->lines[CONSOLE_PROMPT];
	char bytes[] = {(char)ch, '\0'};

	if (is_sequence(c, ch))
		return;
	if (ch == '\r' || ch == '\n') {
		enter(c);
	} else if (ch == BACKSPACE || ch == DEL) {
		echo(c, "\b");
	} else if (ch == CTRL_C) {
		echo(c, "\n");
		console_prompt_ready(c);
	} else if (ch == CTRL_D && l->len == 0) {
		console_set_focus(c, c->back);
	} else if (ch >= ' ' && ch <= '~' && l->len < CONSOLE_COMMAND_BYTES) {
		echo(c, bytes);
	}
}

/* Cuts off the id and returns the command, or NULL if the request is malformed. */
static const char *split(struct console_request *r)
{
	char *end = strchr(r->text, ' ');

	if (!end || end == r->text || end > r->text + CONSOLE_ID_BYTES)
		return NULL;
	*end = '\0';
	return end + 1;
}

/* Takes a byte of a request. Nothing is echoed, so a half-typed line and the focus stay. */
static void request_key(struct console *c, uint8_t ch)
{
	struct console_request *r = &c->request;
	const char *text;

	if (ch != '\r' && ch != '\n') {
		/* A byte that is not text makes the request malformed, as too many bytes do. */
		if (ch < ' ' || ch > '~' || r->len >= sizeof(r->text) - 1)
			r->too_long = true;
		else
			r->text[r->len++] = (char)ch;
		return;
	}
	r->open = false;
	r->text[r->len] = '\0';
	text = split(r);
	/* A short id leaves more room than a command may take. */
	if (text && strlen(text) > CONSOLE_COMMAND_BYTES)
		r->too_long = true;
	console_command(text ? r->text : "0", r->too_long ? NULL : text);
}

bool console_help(const struct console *c, unsigned int row, struct text *text)
{
	static const char *const keys[] = {
	    "Ctrl-T, then 1..9, n, p: that, the next, the one before gets the input;",
	    "  g, s, r: starts, stops, restarts it; :: the prompt;",
	    "  Ctrl-T: sends Ctrl-T; ?: this help",
	};
	const unsigned int n = sizeof(keys) / sizeof(keys[0]), vm = row - n;

	if (row < n)
		text_add(text, "%s", keys[row]);
	else
		text_add(text, "%c %u %s%s", vm == c->focus ? '*' : ' ', vm + 1, c->names[vm],
		         c->lines[vm].ended ? " (ended)" : "");
	return row + 1 < n + c->n_vms;
}

/* At the prompt, keys act on the VM that had the focus before. */
static unsigned int vm_in_focus(const struct console *c)
{
	return c->focus == CONSOLE_PROMPT ? c->back : c->focus;
}

/* Moves the focus in steps of `step` to the next VM that has not ended. If there is no other, the
 * focus stays, and a line says so. */
static void turn(struct console *c, unsigned int step)
{
	unsigned int vm = vm_in_focus(c);

	for (unsigned int i = 0; i < c->n_vms; i++) {
		vm = (vm + step) % c->n_vms;
		if (!c->lines[vm].ended)
			break;
	}
	console_set_focus(c, vm);
}

/* Runs a command of the prompt for the VM in focus. */
static void act(const struct console *c, const char *command)
{
	char text[CONSOLE_COMMAND_BYTES + 1];

	(void)tally_snprintf(text, sizeof(text), "%s %s", command, c->names[vm_in_focus(c)]);
	console_command("", text);
}

static void command(struct console *c, uint8_t ch)
{
	if (c->n_vms == 0)
		return;
	if (ch == 'n')
		turn(c, 1);
	else if (ch == 'p')
		turn(c, c->n_vms - 1);
	else if (ch >= '1' && ch <= '9' && (unsigned int)(ch - '1') < c->n_vms)
		console_set_focus(c, ch - '1');
	else if (ch == 'g' || ch == 's' || ch == 'r')
		act(c, ch == 'g' ? "start" : ch == 's' ? "stop" : "restart");
	else if (ch == ':' && !c->frames)
		prompt_open(c);
	else if (ch == '>')
		c->next = ch;
	else if (ch == '=')
		c->request = (struct console_request){.open = true};
	else
		console_command("", "keys");
}

/* Gives the input to a VM, also if the prompt had it. */
static void choose(struct console *c, unsigned int vm)
{
	if (vm >= c->n_vms)
		return;
	if (!c->frames)
		console_close(c);
	c->focus = vm;
}

int console_target(const struct console *c)
{
	if (c->n_vms == 0 || c->focus == CONSOLE_PROMPT || c->lines[c->focus].ended)
		return -1;
	return (int)c->focus;
}

int console_input(struct console *c, uint8_t ch)
{
	uint8_t before = c->next;

	c->next = before != CONSOLE_KEY && ch == CONSOLE_KEY ? ch : 0;
	if (before == CONSOLE_KEY)
		c->request.open = false;
	if (c->next)
		; /* a key follows */
	else if (before == CONSOLE_KEY && ch != CONSOLE_KEY)
		command(c, ch);
	else if (before == CONSOLE_KEY && c->focus == CONSOLE_PROMPT)
		console_set_focus(c, c->back);
	else if (before == '>')
		choose(c, (unsigned int)(ch - 'A'));
	else if (c->request.open)
		request_key(c, ch);
	else if (c->focus == CONSOLE_PROMPT)
		prompt_key(c, ch);
	else
		return console_target(c);
	return -1;
}
