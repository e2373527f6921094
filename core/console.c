/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console.h"

#include "core/printf.h"

#define TALLY_PREFIX  "tally: "
#define PROMPT_PREFIX "tally> "

/* How much of an unfinished line is drawn again after somebody else's line. What was before it has
 * wrapped and still stands above. */
#define REDRAW_BYTES 256u

/* console_vm_write() stops before the byte after so many emitted ones. */
#define WORK_BYTES 256u

static void emit(struct console *c, const char *s, size_t n)
{
	c->work += n;
	console_emit(s, n);
}

static void emit_text(struct console *c, const char *s)
{
	size_t n = 0;

	while (s[n] != '\0')
		n++;
	emit(c, s, n);
}

static void emit_newline(struct console *c)
{
	emit_text(c, c->interactive ? "\r\n" : "\n");
}

static void emit_prefix(struct console *c, unsigned int vm)
{
	size_t n = 0;

	if (vm == CONSOLE_PROMPT) {
		emit_text(c, PROMPT_PREFIX);
		return;
	}
	while (n < CONSOLE_NAME_BYTES && c->names[vm][n] != '\0')
		n++;
	emit(c, "[", 1);
	emit(c, c->names[vm], n);
	emit_text(c, c->lines[vm].continued ? "]+" : "] ");
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

/* Puts vm's unfinished line on the screen, at most its last max bytes, cursor included. */
static void draw(struct console *c, unsigned int vm, unsigned int max)
{
	struct console_line *l = &c->lines[vm];
	unsigned int from = l->len > max ? l->len - max : 0;
	unsigned int left = 0;
	char move[16];

	while (from < l->len && !console_is_char_start(l->text[from]))
		from++;
	emit_prefix(c, vm);
	emit(c, l->text + from, l->len - from);
	for (unsigned int i = l->pos > from ? l->pos : from; i < l->len; i++)
		left += console_is_char_start(l->text[i]);
	if (left > 0) {
		(void)tally_snprintf(move, sizeof(move), "\033[%uD", left);
		emit_text(c, move);
	}
	l->drawn = true;
}

/* Clears the screen's last line for a complete one; restore() undoes it. The colour goes too: what
 * comes now is not the VM's. */
static void erase(struct console *c)
{
	if (c->n_vms == 0 || !c->lines[c->focus].drawn)
		return;
	emit_text(c, "\033[m\r\033[K");
	c->lines[c->focus].drawn = false;
	c->erased = true;
}

static void restore(struct console *c)
{
	if (c->erased)
		draw(c, c->focus, REDRAW_BYTES);
	c->erased = false;
}

/* Ends vm's line. What it erases stays erased: the caller restores it, once. */
static void line_end(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (l->drawn) {
		emit_newline(c);
	} else {
		erase(c);
		emit_prefix(c, vm);
		emit(c, l->text, l->len);
		emit_newline(c);
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
		emit(c, "\r", 1);
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
		emit(c, bytes, n);
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
			emit(c, &ch, 1);
	} else if (ch == '\a' && is_live(c, vm)) {
		emit(c, &ch, 1);
	}
}

static void put_escape(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (is_live(c, vm)) {
		if (!l->drawn)
			draw(c, vm, CONSOLE_LINE_BYTES);
		emit(c, l->ansi.bytes, l->ansi.len);
	}
	console_line_escape(l);
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

	if (!has_line(c, vm))
		return n;
	c->work = 0;
	c->lines[vm].steps = 0;
	while (done < n && c->work + c->lines[vm].steps < WORK_BYTES)
		put_byte(c, vm, (uint8_t)bytes[done++]);
	restore(c);
	return done;
}

void console_vm_putc(struct console *c, unsigned int vm, uint8_t ch)
{
	char byte = (char)ch;

	(void)console_vm_write(c, vm, &byte, 1);
}

void console_vm_flush(struct console *c, unsigned int vm)
{
	if (vm >= c->n_vms)
		return;
	if (!console_line_is_blank(&c->lines[vm]) || c->lines[vm].drawn)
		line_end(c, vm);
	restore(c);
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
	size_t n = 0;

	emit_text(c, TALLY_PREFIX);
	while (s[n] != '\0' && s[n] != '\n') {
		if ((s[n] >= ' ' && s[n] <= '~') || s[n] == '\t') {
			n++;
			continue;
		}
		emit(c, s, n);
		emit(c, "?", 1);
		s += n + 1;
		n = 0;
	}
	emit(c, s, n);
	emit_newline(c);
	return s + n;
}

void console_tally_puts(struct console *c, const char *lines)
{
	erase(c);
	while (*lines != '\0') {
		lines = tally_line(c, lines);
		if (*lines == '\n')
			lines++;
	}
	restore(c);
}

void console_set_focus(struct console *c, unsigned int vm)
{
	char text[CONSOLE_NAME_BYTES + 64];

	if (!has_line(c, vm))
		return;
	erase(c);
	c->erased = false; /* what was erased is the former focus's, and stays in its line */
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
	c->erased = false;
	c->request.open = false;
	c->work = 0;
	c->n_vms = n < CONSOLE_MAX_VMS ? n : CONSOLE_MAX_VMS;
	c->focus = 0;
	c->back = 0;
	c->names[CONSOLE_PROMPT] = "the prompt";
	console_line_reset(&c->lines[CONSOLE_PROMPT]);
	ansi_init(&c->lines[CONSOLE_PROMPT].ansi);
	c->lines[CONSOLE_PROMPT].ended = false;
	for (unsigned int i = 0; i < c->n_vms; i++) {
		c->names[i] = names[i];
		console_line_reset(&c->lines[i]);
		ansi_init(&c->lines[i].ansi);
		c->lines[i].ended = false;
		c->lines[i].hinted = false;
	}
}
