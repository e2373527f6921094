/* SPDX-License-Identifier: Apache-2.0 */
/* The line that is typed at the prompt. It is echoed as if a VM in focus printed it. */
#include <string.h>

#include "core/console/console_parts.h"

#define CTRL_C    0x03
#define CTRL_D    0x04
#define BACKSPACE 0x08
#define DEL       0x7f

static void echo(struct console *c, const char *bytes)
{
	(void)console_vm_write(c, CONSOLE_PROMPT, bytes, strlen(bytes));
}

void console_prompt_open(struct console *c)
{
	if (c->focus == CONSOLE_PROMPT)
		return;
	c->back = c->focus;
	console_line_reset(&c->lines[CONSOLE_PROMPT]);
	console_set_focus(c, CONSOLE_PROMPT);
	console_prompt_ready(c);
}

void console_prompt_leave(struct console *c)
{
	console_set_focus(c, c->back);
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
		console_prompt_leave(c);
	else
		console_command(text);
}

void console_prompt_key(struct console *c, uint8_t ch)
{
	const struct console_line *l = &c->lines[CONSOLE_PROMPT];
	char bytes[] = {(char)ch, '\0'};

	if (ch == '\r' || ch == '\n') {
		enter(c);
	} else if (ch == BACKSPACE || ch == DEL) {
		echo(c, "\b\033[K");
	} else if (ch == CTRL_C) {
		echo(c, "\n");
		console_prompt_ready(c);
	} else if (ch == CTRL_D && l->len == 0) {
		console_prompt_leave(c);
	} else if (ch >= ' ' && ch <= '~' && l->len < CONSOLE_COMMAND_BYTES) {
		echo(c, bytes);
	}
}
