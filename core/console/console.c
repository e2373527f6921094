/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console/console.h"

#include <string.h>

#include "core/console/console_parts.h"
#include "core/lib/printf.h"

#define TALLY_PREFIX  "tally: "
#define PROMPT_PREFIX "tally> "

void console_put(struct console *c, const char *s, size_t n)
{
	c->work += n;
	console_emit(s, n);
}

void console_put_text(struct console *c, const char *s)
{
	console_put(c, s, strlen(s));
}

static void newline(struct console *c)
{
	console_put_text(c, c->interactive && !c->frames ? "\r\n" : "\n");
}

static void prefix(struct console *c, unsigned int vm)
{
	char text[CONSOLE_NAME_BYTES + 4];

	(void)tally_snprintf(text, sizeof(text), "[%.*s]%c", (int)CONSOLE_NAME_BYTES, c->names[vm],
	                     c->lines[vm].continued ? '+' : ' ');
	console_put_text(c, vm == CONSOLE_PROMPT ? PROMPT_PREFIX : text);
}

void console_close(struct console *c)
{
	if (c->open == CONSOLE_NOBODY)
		return;
	newline(c);
	/* What follows is another piece; but what is typed at the prompt is shown again. */
	if (!c->frames && c->open != CONSOLE_PROMPT) {
		console_line_reset(&c->lines[c->open]);
		c->lines[c->open].continued = true;
	}
	c->open = CONSOLE_NOBODY;
}

void console_open(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (c->open == vm)
		return;
	console_close(c);
	prefix(c, vm);
	console_put(c, l->text, l->len);
	l->pos = l->len;
	c->open = vm;
}

static bool has_line(const struct console *c, unsigned int vm)
{
	return vm < c->n_vms || vm == CONSOLE_PROMPT;
}

/* Is vm's unfinished line to be seen as it grows? */
static bool is_live(const struct console *c, unsigned int vm)
{
	return c->interactive && vm == c->focus;
}

/* Ends vm's line. Of one whose beginning is out, and that has nothing more, nothing is to be said.
 */
static void line_end(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (c->open == vm || l->len > 0 || !l->continued) {
		console_open(c, vm);
		newline(c);
		c->open = CONSOLE_NOBODY;
	}
	console_line_reset(l);
}

static void put_char(struct console *c, unsigned int vm, const char *bytes, unsigned int n)
{
	struct console_line *l = &c->lines[vm];

	if (!console_line_put(l, bytes, n)) {
		line_end(c, vm);
		l->continued = true;
		(void)console_line_put(l, bytes, n); /* the line is empty: it fits */
	} else if (c->open == vm) {
		console_put(c, bytes, n);
	}
	if (is_live(c, vm))
		console_open(c, vm);
}

/* Takes off the screen what is behind the cursor of the open line: that has no middle. */
static void trim(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (c->open != vm)
		return;
	for (unsigned int n = console_line_behind(l); n > 0; n--)
		console_put(c, "\b \b", 3);
	l->len = l->pos;
}

static void put_byte(struct console *c, unsigned int vm, uint8_t ch)
{
	struct console_line *l = &c->lines[vm];
	enum ansi_token token = ansi_feed(&l->ansi, ch);

	if (token == ANSI_NONE)
		return;
	if (token == ANSI_CONTROL && ch == '\n') {
		line_end(c, vm);
		return;
	}
	/* A CR without LF ends the line, too: nothing that was printed gets lost. */
	if (l->cr && ch != '\r' && (l->len > 0 || c->open == vm))
		line_end(c, vm);
	l->cr = token == ANSI_CONTROL && ch == '\r';
	if (token == ANSI_CHAR || ch == '\t')
		put_char(c, vm, l->ansi.bytes, l->ansi.len);
	else if (token == ANSI_CSI)
		console_line_escape(l);
	else if (ch == '\b')
		console_line_left(l); /* at the beginning it would step into the prefix */
	trim(c, vm);
}

size_t console_vm_write(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	size_t done = 0;

	if (!has_line(c, vm))
		return n;
	c->work = 0;
	c->lines[vm].steps = 0;
	if (c->frames)
		return console_frame_write(c, vm, bytes, n);
	while (done < n && c->work + c->lines[vm].steps < WORK_BYTES)
		put_byte(c, vm, (uint8_t)bytes[done++]);
	return done;
}

void console_vm_flush(struct console *c, unsigned int vm)
{
	if (vm >= c->n_vms || c->frames)
		return;
	if (c->lines[vm].len > 0 || c->open == vm)
		line_end(c, vm);
	console_line_reset(&c->lines[vm]);
	ansi_init(&c->lines[vm].ansi);
}

void console_vm_ended(struct console *c, unsigned int vm, bool ended)
{
	if (vm >= c->n_vms)
		return;
	console_vm_flush(c, vm);
	c->lines[vm].ended = ended;
	c->lines[vm].hinted = false;
}

/* One line of Tally, up to LF or NUL; returns what follows. */
static const char *tally_line(struct console *c, const char *s)
{
	console_close(c);
	console_put_text(c, c->frames ? RS "!" : TALLY_PREFIX);
	for (; *s != '\0' && *s != '\n'; s++)
		console_put(c, (*s >= ' ' && *s <= '~') || *s == '\t' ? s : "?", 1);
	newline(c);
	return s;
}

void console_tally_puts(struct console *c, const char *lines)
{
	while (*lines != '\0') {
		lines = tally_line(c, lines);
		if (*lines == '\n')
			lines++;
	}
}

void console_set_focus(struct console *c, unsigned int vm)
{
	char text[CONSOLE_NAME_BYTES + 64];

	if (!has_line(c, vm))
		return;
	c->focus = vm;
	c->lines[vm].hinted = false;
	(void)tally_snprintf(text, sizeof(text), "input goes to %.*s (Ctrl-T ? for help)",
	                     (int)CONSOLE_NAME_BYTES, c->names[vm]);
	console_tally_puts(c, text);
	if (is_live(c, vm) && !c->frames && c->lines[vm].len > 0)
		console_open(c, vm);
}

void console_init(struct console *c, bool interactive, const char *const *names, unsigned int n)
{
	memset(c, 0, sizeof(*c));
	c->interactive = interactive;
	c->open = CONSOLE_NOBODY;
	c->n_vms = n < CONSOLE_MAX_VMS ? n : CONSOLE_MAX_VMS;
	for (unsigned int i = 0; i < c->n_vms; i++)
		c->names[i] = names[i];
	c->names[CONSOLE_PROMPT] = "the prompt";
}
