/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console/console.h"

#include "core/console/console_draw.h"
#include "core/lib/printf.h"

#define TALLY_PREFIX "tally: "

/* Ends vm's line. What it erases stays erased: the caller restores it, once. */
static void line_end(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (l->drawn) {
		console_newline(c);
	} else {
		console_erase(c);
		console_prefix(c, vm);
		console_put(c, l->text, l->len);
		console_newline(c);
	}
	console_line_reset(l);
}

/* What came was no LF: the CR before it stands alone. */
static void lone_cr(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	l->cr = false;
	if (!console_is_live(c, vm)) {
		if (!console_line_is_blank(l))
			line_end(c, vm);
		return;
	}
	l->pos = 0;
	/* Never column 0: that is where the prefix stands. */
	if (l->drawn) {
		console_put(c, "\r", 1);
		console_prefix(c, vm);
	}
}

static void put_char(struct console *c, unsigned int vm, const char *bytes, unsigned int n)
{
	struct console_line *l = &c->lines[vm];

	if (console_is_live(c, vm) && !l->drawn)
		console_draw(c, vm, CONSOLE_LINE_BYTES);
	if (!console_line_put(l, bytes, n)) {
		line_end(c, vm);
		l->continued = true;
		if (console_is_live(c, vm))
			console_draw(c, vm, CONSOLE_LINE_BYTES);
		(void)console_line_put(l, bytes, n); /* the line is empty: it fits */
	}
	if (l->drawn)
		console_put(c, bytes, n);
}

static void put_control(struct console *c, unsigned int vm, char ch)
{
	struct console_line *l = &c->lines[vm];

	if (ch == '\t') {
		put_char(c, vm, &ch, 1);
	} else if (ch == '\b' && l->pos > 0) {
		/* At the beginning it would step into the prefix. */
		console_line_left(l);
		if (l->drawn)
			console_put(c, &ch, 1);
	} else if (ch == '\a' && console_is_live(c, vm)) {
		console_put(c, &ch, 1);
	}
}

static void put_escape(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (console_full_escape(c, vm))
		return;
	if (console_is_live(c, vm)) {
		if (!l->drawn)
			console_draw(c, vm, CONSOLE_LINE_BYTES);
		console_put(c, l->ansi.bytes, l->ansi.len);
	}
	console_line_escape(l);
}

static void put_byte(struct console *c, unsigned int vm, uint8_t ch)
{
	struct console_line *l = &c->lines[vm];
	enum ansi_token token = ansi_feed(&l->ansi, ch);

	if (token == ANSI_NONE)
		return;
	if (c->full && vm == c->focus) {
		console_full_put(c, token, ch);
		return;
	}
	if (token == ANSI_CONTROL && ch == '\n') {
		line_end(c, vm);
		return;
	}
	if (token == ANSI_CONTROL && ch == '\r') {
		l->cr = true;
		return;
	}
	if (l->cr)
		lone_cr(c, vm);
	if (token == ANSI_CHAR)
		put_char(c, vm, l->ansi.bytes, l->ansi.len);
	else if (token == ANSI_CONTROL)
		put_control(c, vm, (char)ch);
	else
		put_escape(c, vm);
}

size_t console_vm_write(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	size_t done = 0;

	if (!console_has_line(c, vm))
		return n;
	c->work = 0;
	c->lines[vm].steps = 0;
	if (c->frames)
		return console_frame_write(c, vm, bytes, n);
	while (done < n && c->work + c->lines[vm].steps < WORK_BYTES)
		put_byte(c, vm, (uint8_t)bytes[done++]);
	console_restore(c);
	return done;
}

void console_vm_putc(struct console *c, unsigned int vm, uint8_t ch)
{
	char byte = (char)ch;

	(void)console_vm_write(c, vm, &byte, 1);
}

void console_vm_flush(struct console *c, unsigned int vm)
{
	if (vm >= c->n_vms || c->frames)
		return;
	if (!console_line_is_blank(&c->lines[vm]) || c->lines[vm].drawn)
		line_end(c, vm);
	console_restore(c);
	ansi_init(&c->lines[vm].ansi);
}

void console_vm_ended(struct console *c, unsigned int vm, bool ended)
{
	if (vm >= c->n_vms)
		return;
	console_full_end(c, vm);
	console_vm_flush(c, vm);
	c->lines[vm].ended = ended;
	c->lines[vm].hinted = false;
}

/* One line of Tally, up to LF or NUL; returns what follows. */
static const char *tally_line(struct console *c, const char *s)
{
	size_t n = 0;

	if (c->full)
		console_emit_text(c, CONSOLE_ASIDE);
	console_frame_close(c);
	console_emit_text(c, c->frames ? CONSOLE_RS "!" : TALLY_PREFIX);
	while (s[n] != '\0' && s[n] != '\n') {
		if ((s[n] >= ' ' && s[n] <= '~') || s[n] == '\t') {
			n++;
			continue;
		}
		console_put(c, s, n);
		console_put(c, "?", 1);
		s += n + 1;
		n = 0;
	}
	console_put(c, s, n);
	console_newline(c);
	return s + n;
}

void console_tally_puts(struct console *c, const char *lines)
{
	unsigned int own;

	console_erase(c);
	own = c->own;
	while (*lines != '\0') {
		lines = tally_line(c, lines);
		own++;
		if (*lines == '\n')
			lines++;
	}
	c->own = own;
	console_restore(c);
}

void console_take_back(struct console *c, unsigned int n)
{
	char move[16];

	if (!c->interactive || c->own < n)
		return;
	(void)tally_snprintf(move, sizeof(move), "\033[%uA\033[J", n);
	console_emit_text(c, move);
}

void console_set_focus(struct console *c, unsigned int vm)
{
	char text[CONSOLE_NAME_BYTES + 64];

	if (!console_has_line(c, vm))
		return;
	console_full_pause(c);
	console_erase(c);
	c->erased = false; /* what was erased is the former focus's, and stays in its line */
	c->focus = vm;
	c->lines[vm].hinted = false;
	(void)tally_snprintf(text, sizeof(text), "input goes to %.*s (Ctrl-T ? for help)",
	                     (int)CONSOLE_NAME_BYTES, c->names[vm]);
	console_tally_puts(c, text);
	if (c->frames)
		return;
	if (c->interactive && !console_line_is_blank(&c->lines[vm]))
		console_draw(c, vm, CONSOLE_LINE_BYTES);
	console_full_resume(c);
}

static void init_line(struct console_line *l)
{
	console_line_reset(l);
	ansi_init(&l->ansi);
	l->ended = false;
	l->hinted = false;
	l->full = false;
	l->other_screen = false;
}

void console_init(struct console *c, bool interactive, const char *const *names, unsigned int n)
{
	c->interactive = interactive;
	c->full = false;
	c->frames = false;
	c->framed = false;
	c->choosing = false;
	c->open = CONSOLE_NOBODY;
	c->key = false;
	c->erased = false;
	c->request.open = false;
	c->work = 0;
	c->own = 0;
	c->n_vms = n < CONSOLE_MAX_VMS ? n : CONSOLE_MAX_VMS;
	c->focus = 0;
	c->back = 0;
	c->names[CONSOLE_PROMPT] = "the prompt";
	init_line(&c->lines[CONSOLE_PROMPT]);
	for (unsigned int i = 0; i < c->n_vms; i++) {
		c->names[i] = names[i];
		init_line(&c->lines[i]);
	}
}
