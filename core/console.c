/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console.h"

#include "core/printf.h"

#define TALLY_PREFIX "tally: "

/* How much of an unfinished line is drawn again after somebody else's line. What was before it has
 * wrapped and still stands above. */
#define REDRAW_BYTES 256u

static void emit_text(const char *s)
{
	size_t n = 0;

	while (s[n] != '\0')
		n++;
	console_emit(s, n);
}

static void emit_newline(const struct console *c)
{
	emit_text(c->interactive ? "\r\n" : "\n");
}

static void emit_prefix(const struct console *c, unsigned int vm)
{
	size_t n = 0;

	while (n < CONSOLE_NAME_BYTES && c->names[vm][n] != '\0')
		n++;
	console_emit("[", 1);
	console_emit(c->names[vm], n);
	emit_text(c->lines[vm].continued ? "]+" : "] ");
}

/* Is vm's unfinished line to be seen as it grows? */
static bool is_live(const struct console *c, unsigned int vm)
{
	return c->interactive && vm == c->focus;
}

/* Puts vm's unfinished line on the screen, at most its last max bytes, cursor included. */
static void draw(struct console *c, unsigned int vm, unsigned int max)
{
	struct console_line *l = &c->lines[vm];
	unsigned int from = l->len > max ? l->len - max : 0;
	uint16_t pos = l->pos;

	while (from < l->len && !console_is_char_start(l->text[from]))
		from++;
	emit_prefix(c, vm);
	console_emit(l->text + from, l->len - from);
	for (l->pos = l->len; l->pos > pos && l->pos > from; console_line_left(l))
		console_emit("\b", 1);
	l->pos = pos;
	l->drawn = true;
}

/* Clears the screen's last line for a complete one. Returns whether it must be drawn again. The
 * colour goes too: what comes now is not the VM's. */
static bool erase(struct console *c)
{
	if (!c->interactive || c->n_vms == 0 || !c->lines[c->focus].drawn)
		return false;
	emit_text("\033[m\r\033[K");
	c->lines[c->focus].drawn = false;
	return true;
}

static void restore(struct console *c, bool drawn)
{
	if (drawn)
		draw(c, c->focus, REDRAW_BYTES);
}

/* Ends vm's line. */
static void line_end(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (l->drawn) {
		emit_newline(c);
	} else {
		bool drawn = erase(c);

		emit_prefix(c, vm);
		console_emit(l->text, l->len);
		emit_newline(c);
		restore(c, drawn);
	}
	console_line_reset(l);
}

/* What came was no LF: the CR before it stands alone. */
static void lone_cr(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	l->cr = false;
	if (!is_live(c, vm)) {
		if (!console_line_is_blank(l))
			line_end(c, vm);
		return;
	}
	l->pos = 0;
	/* Never column 0: that is where the prefix stands. */
	if (l->drawn) {
		console_emit("\r", 1);
		emit_prefix(c, vm);
	}
}

static void put_char(struct console *c, unsigned int vm, const char *bytes, unsigned int n)
{
	struct console_line *l = &c->lines[vm];

	if (is_live(c, vm) && !l->drawn)
		draw(c, vm, CONSOLE_LINE_BYTES);
	if (!console_line_put(l, bytes, n)) {
		line_end(c, vm);
		l->continued = true;
		if (is_live(c, vm))
			draw(c, vm, CONSOLE_LINE_BYTES);
		(void)console_line_put(l, bytes, n); /* the line is empty: it fits */
	}
	if (l->drawn)
		console_emit(bytes, n);
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
			console_emit(&ch, 1);
	} else if (ch == '\a' && is_live(c, vm)) {
		console_emit(&ch, 1);
	}
}

static void put_escape(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (is_live(c, vm)) {
		if (!l->drawn)
			draw(c, vm, CONSOLE_LINE_BYTES);
		console_emit(l->ansi.bytes, l->ansi.len);
	}
	console_line_escape(l);
}

void console_vm_putc(struct console *c, unsigned int vm, uint8_t ch)
{
	struct console_line *l;
	enum ansi_token token;

	if (vm >= c->n_vms)
		return;
	l = &c->lines[vm];
	token = ansi_feed(&l->ansi, ch);
	if (token == ANSI_NONE)
		return;
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

void console_vm_flush(struct console *c, unsigned int vm)
{
	if (vm >= c->n_vms)
		return;
	if (!console_line_is_blank(&c->lines[vm]) || c->lines[vm].drawn)
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
static const char *tally_line(const struct console *c, const char *s)
{
	size_t n = 0;

	emit_text(TALLY_PREFIX);
	while (s[n] != '\0' && s[n] != '\n') {
		if ((s[n] >= ' ' && s[n] <= '~') || s[n] == '\t') {
			n++;
			continue;
		}
		console_emit(s, n);
		console_emit("?", 1);
		s += n + 1;
		n = 0;
	}
	console_emit(s, n);
	emit_newline(c);
	return s + n;
}

void console_tally_puts(struct console *c, const char *lines)
{
	bool drawn = erase(c);

	while (*lines != '\0') {
		lines = tally_line(c, lines);
		if (*lines == '\n')
			lines++;
	}
	restore(c, drawn);
}

void console_set_focus(struct console *c, unsigned int vm)
{
	char text[CONSOLE_NAME_BYTES + 64];

	if (vm >= c->n_vms)
		return;
	(void)erase(c);
	c->focus = vm;
	c->lines[vm].hinted = false;
	(void)tally_snprintf(text, sizeof(text), "input goes to %.*s (Ctrl-T ? for help)",
	                     (int)CONSOLE_NAME_BYTES, c->names[vm]);
	console_tally_puts(c, text);
	if (c->interactive && !console_line_is_blank(&c->lines[vm]))
		draw(c, vm, CONSOLE_LINE_BYTES);
}

void console_init(struct console *c, bool interactive, const char *const *names, unsigned int n)
{
	c->interactive = interactive;
	c->key = false;
	c->n_vms = n < CONSOLE_MAX_VMS ? n : CONSOLE_MAX_VMS;
	c->focus = 0;
	for (unsigned int i = 0; i < c->n_vms; i++) {
		c->names[i] = names[i];
		console_line_reset(&c->lines[i]);
		ansi_init(&c->lines[i].ansi);
		c->lines[i].ended = false;
		c->lines[i].hinted = false;
	}
}
