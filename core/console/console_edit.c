/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line that a person types at the prompt: its cursor, the last commands, and the words that Tab
 * completes. Keys at the end of the line add to the screen. Others have the line drawn again.
 */
#include <string.h>

#include "core/console/console_parts.h"
#include "core/console/port.h"

#define CTRL_C    0x03
#define CTRL_D    0x04
#define BACKSPACE 0x08
#define TAB       0x09
#define ESC       0x1b
#define DEL       0x7f

void console_prompt_ready(struct console *c)
{
	if (c->interactive && c->focus == CONSOLE_PROMPT)
		console_open(c, CONSOLE_PROMPT);
}

/* Prints as if a VM in focus did. */
static void echo(struct console *c, char ch)
{
	(void)console_vm_write(c, CONSOLE_PROMPT, &ch, 1);
}

static void redraw(struct console *c)
{
	if (c->open == CONSOLE_PROMPT) {
		console_put_text(c, "\r\033[K");
		c->open = CONSOLE_NOBODY;
	}
	console_open(c, CONSOLE_PROMPT);
}

/* All or nothing, at the cursor. */
static void insert(struct console *c, const char *text, size_t n)
{
	struct console_line *l = &c->lines[CONSOLE_PROMPT];
	uint8_t at = c->edit.at;

	if (l->len + n > CONSOLE_COMMAND_BYTES)
		return;
	c->edit.at = (uint8_t)(at + n);
	if (at == l->len && n == 1) {
		echo(c, *text);
		return;
	}
	memmove(l->text + at + n, l->text + at, l->len - at);
	memcpy(l->text + at, text, n);
	l->len = (uint16_t)(l->len + n);
	redraw(c);
}

/* The character under the cursor. */
static void erase_under(struct console *c)
{
	struct console_line *l = &c->lines[CONSOLE_PROMPT];
	uint8_t at = c->edit.at;

	if (at == l->len)
		return;
	memmove(l->text + at, l->text + at + 1, --l->len - at);
	redraw(c);
}

/* The character before it. */
static void erase_before(struct console *c)
{
	uint8_t at = c->edit.at;

	if (!at)
		return;
	c->edit.at--;
	if (at == c->lines[CONSOLE_PROMPT].len)
		echo(c, '\b');
	else
		erase_under(c);
}

static void remember(struct console_edit *e, const char *text)
{
	if (!*text || (e->n && strcmp(e->last[(e->n - 1) % CONSOLE_LAST], text) == 0))
		return;
	memcpy(e->last[e->n++ % CONSOLE_LAST], text, strlen(text) + 1);
}

/* Shows the command before the one that is shown, or the one after it; at the end, nothing. */
static void recall(struct console *c, bool before)
{
	struct console_line *l = &c->lines[CONSOLE_PROMPT];
	struct console_edit *e = &c->edit;
	uint32_t most = e->n < CONSOLE_LAST ? e->n : CONSOLE_LAST;

	if (before ? e->recalled == most : !e->recalled)
		return;
	e->recalled = (uint8_t)(before ? e->recalled + 1 : e->recalled - 1);
	l->len = 0;
	if (e->recalled) {
		const char *text = e->last[(e->n - e->recalled) % CONSOLE_LAST];

		l->len = (uint16_t)strlen(text);
		memcpy(l->text, text, l->len);
	}
	e->at = (uint8_t)l->len;
	redraw(c);
}

/* Candidates: of the first word commands, of others VMs. NULL: there are no more. */
static const char *candidate(const struct console *c, bool first, uint32_t n)
{
	return first ? console_command_name(n) : n < c->n_vms ? c->names[n] : NULL;
}

/* Adds what all candidates have in common. If that is nothing, a second Tab lists them. */
static void complete(struct console *c, bool again)
{
	struct console_line *l = &c->lines[CONSOLE_PROMPT];
	size_t begin = c->edit.at, n, common = 0, found = 0;
	const char *name, *some = NULL;
	bool first;

	while (begin && l->text[begin - 1] != ' ')
		begin--;
	first = !begin;
	n = c->edit.at - begin;
	for (uint32_t i = 0; (name = candidate(c, first, i)); i++) {
		if (strncmp(name, l->text + begin, n) != 0)
			continue;
		if (!found++)
			common = strlen(some = name);
		while (strncmp(name, some, common) != 0)
			common--;
	}
	if (found > 1 && common == n && again) {
		console_close(c);
		console_put_text(c, "tally:");
		for (uint32_t i = 0; (name = candidate(c, first, i)); i++) {
			if (strncmp(name, l->text + begin, n) != 0)
				continue;
			console_put_text(c, " ");
			console_put_text(c, name);
		}
		console_put_text(c, "\r\n");
		console_open(c, CONSOLE_PROMPT);
	}
	if (common > n)
		insert(c, some + n, common - n);
	if (found == 1)
		insert(c, " ", 1);
}

/* A key that sends ESC [ or ESC O, and this character. */
static void move(struct console *c, uint8_t ch)
{
	struct console_edit *e = &c->edit;
	uint8_t len = (uint8_t)c->lines[CONSOLE_PROMPT].len, at = e->at;

	if (ch == 'A' || ch == 'B') {
		recall(c, ch == 'A');
		return;
	}
	if (ch == 'D' && at)
		e->at--;
	else if (ch == 'C' && at < len)
		e->at++;
	else if (ch == 'H')
		e->at = 0;
	else if (ch == 'F')
		e->at = len;
	if (e->at != at)
		redraw(c);
}

/* A key that sends ESC [, this digit and a tilde. */
static void numbered(struct console *c, uint8_t digit)
{
	if (digit == '1' || digit == '7')
		move(c, 'H');
	else if (digit == '4' || digit == '8')
		move(c, 'F');
	else if (digit == '3')
		erase_under(c);
}

static bool is_parameter(uint8_t ch)
{
	return ch >= ' ' && ch < '@';
}

/* Whether the byte belongs to a key that sends an escape sequence: ESC and a character, with
 * further ones after ESC [ and ESC O. Of a lone ESC the next character is lost at most. A key with
 * two digits, or with Shift or Ctrl, is none of the numbered ones: PARAMETERS. */
#define PARAMETERS '?'
static bool is_sequence(struct console *c, uint8_t ch)
{
	uint8_t begun = c->edit.sequence;

	c->edit.sequence = 0;
	if (ch == ESC || (begun == ESC && (ch == '[' || ch == 'O')))
		c->edit.sequence = ch;
	else if (begun == '[' && is_parameter(ch))
		c->edit.sequence = ch;
	else if (is_parameter(begun) && is_parameter(ch))
		c->edit.sequence = PARAMETERS;
	else if (is_parameter(begun) && ch == '~')
		numbered(c, begun);
	else if (begun && begun != ESC)
		move(c, ch);
	return ch == ESC || (begun && ch >= ' ');
}

/* Ends the line on the screen, and empties it. */
static void end(struct console *c)
{
	c->edit.at = (uint8_t)c->lines[CONSOLE_PROMPT].len;
	echo(c, '\n');
	c->edit.at = c->edit.recalled = 0;
}

static void enter(struct console *c)
{
	struct console_line *l = &c->lines[CONSOLE_PROMPT];
	char text[CONSOLE_COMMAND_BYTES + 1];

	memcpy(text, l->text, l->len);
	text[l->len] = '\0';
	remember(&c->edit, text);
	end(c);
	if (strcmp(text, "exit") == 0)
		console_set_focus(c, c->back);
	else
		console_command("", text);
}

void console_edit_begin(struct console *c)
{
	console_line_reset(&c->lines[CONSOLE_PROMPT]);
	c->edit.at = c->edit.recalled = 0;
}

void console_edit_key(struct console *c, uint8_t ch)
{
	bool again = c->edit.tab;

	if (is_sequence(c, ch))
		return;
	c->edit.tab = ch == TAB;
	if (ch == '\r' || ch == '\n') {
		enter(c);
	} else if (ch == BACKSPACE || ch == DEL) {
		erase_before(c);
	} else if (ch == TAB) {
		complete(c, again);
	} else if (ch == CTRL_C) {
		end(c);
		console_prompt_ready(c);
	} else if (ch == CTRL_D && c->lines[CONSOLE_PROMPT].len == 0) {
		console_set_focus(c, c->back);
	} else if (ch >= ' ' && ch <= '~') {
		char text = (char)ch;

		insert(c, &text, 1);
	}
}
