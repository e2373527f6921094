/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts typed bytes: input for the VM in focus, keys for Tally after Ctrl-T, the line at the
 * prompt (console_edit.c), and requests of programs.
 */
#include <string.h>

#include "core/console/console_parts.h"
#include "core/console/port.h"
#include "core/lib/printf.h"

static void prompt_open(struct console *c)
{
	if (c->focus == CONSOLE_PROMPT)
		return;
	c->back = c->focus;
	console_edit_begin(c);
	console_set_focus(c, CONSOLE_PROMPT);
	console_prompt_ready(c);
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
		console_edit_key(c, ch);
	else
		return console_target(c);
	return -1;
}
