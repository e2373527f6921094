/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console/console_draw.h"

#include "core/lib/printf.h"

#define PROMPT_PREFIX "tally> "

void console_put(struct console *c, const char *s, size_t n)
{
	c->work += n;
	c->own = 0;
	console_emit(s, n);
}

void console_emit_text(struct console *c, const char *s)
{
	size_t n = 0;

	while (s[n] != '\0')
		n++;
	console_put(c, s, n);
}

void console_newline(struct console *c)
{
	console_emit_text(c, c->interactive && !c->frames ? "\r\n" : "\n");
}

void console_prefix(struct console *c, unsigned int vm)
{
	size_t n = 0;

	if (vm == CONSOLE_PROMPT) {
		console_emit_text(c, PROMPT_PREFIX);
		return;
	}
	if (c->full)
		console_emit_text(c, CONSOLE_ASIDE);
	while (n < CONSOLE_NAME_BYTES && c->names[vm][n] != '\0')
		n++;
	console_put(c, "[", 1);
	console_put(c, c->names[vm], n);
	console_emit_text(c, c->lines[vm].continued ? "]+" : "] ");
}

bool console_has_line(const struct console *c, unsigned int vm)
{
	return vm < c->n_vms || vm == CONSOLE_PROMPT;
}

/* Is vm's unfinished line to be seen as it grows? */
bool console_is_live(const struct console *c, unsigned int vm)
{
	return c->interactive && vm == c->focus;
}

/* Puts vm's unfinished line on the screen, at most its last max bytes, cursor included. */
void console_draw(struct console *c, unsigned int vm, unsigned int max)
{
	struct console_line *l = &c->lines[vm];
	unsigned int from = l->len > max ? l->len - max : 0;
	unsigned int left = 0;
	char move[16];

	while (from < l->len && !console_is_char_start(l->text[from]))
		from++;
	console_prefix(c, vm);
	console_put(c, l->text + from, l->len - from);
	for (unsigned int i = l->pos > from ? l->pos : from; i < l->len; i++)
		left += console_is_char_start(l->text[i]);
	if (left > 0) {
		(void)tally_snprintf(move, sizeof(move), "\033[%uD", left);
		console_emit_text(c, move);
	}
	l->drawn = true;
}

/* Clears the screen's last line for a complete one; console_restore() undoes it. The colour goes
 * too: what comes now is not the VM's. */
void console_erase(struct console *c)
{
	if (c->n_vms == 0 || !c->lines[c->focus].drawn)
		return;
	console_emit_text(c, "\033[m\r\033[K");
	c->lines[c->focus].drawn = false;
	c->erased = true;
}

void console_restore(struct console *c)
{
	if (c->erased)
		console_draw(c, c->focus, REDRAW_BYTES);
	c->erased = false;
}
