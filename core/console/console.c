/* SPDX-License-Identifier: Apache-2.0 */
#include "core/console/console.h"

#include <string.h>

#include "core/console/console_parts.h"
#include "core/console/port.h"
#include "core/lib/printf.h"

void console_put(struct console *c, const char *s, size_t n)
{
	c->work += n + PIECE_BYTES;
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

void console_close(struct console *c)
{
	if (c->open == CONSOLE_NOBODY)
		return;
	newline(c);
	/* The rest of a VM's line is printed later as another piece. The prompt's line is printed
	 * again as a whole. */
	if (!c->frames && c->open != CONSOLE_PROMPT) {
		console_line_reset(&c->lines[c->open]);
		c->lines[c->open].continued = true;
	}
	c->open = CONSOLE_NOBODY;
}

void console_open(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];
	char prefix[CONSOLE_NAME_BYTES + 4] = "tally> ";

	if (c->open == vm)
		return;
	console_close(c);
	if (vm != CONSOLE_PROMPT)
		(void)tally_snprintf(prefix, sizeof(prefix), "[%s]%c", c->names[vm],
		                     l->continued ? '+' : ' ');
	console_put_text(c, prefix);
	console_put(c, l->text, l->len);
	if (vm == CONSOLE_PROMPT && c->edit.at < l->len) {
		(void)tally_snprintf(prefix, sizeof(prefix), "\033[%uD", l->len - c->edit.at);
		console_put_text(c, prefix);
	}
	c->open = vm;
}

/* Whether vm's unfinished line is shown as it grows. */
static bool is_live(const struct console *c, unsigned int vm)
{
	return c->interactive && vm == c->focus;
}

/* Ends vm's line. Prints nothing if nothing came after a piece that was printed. */
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

static void put_char(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];

	if (!console_line_put(l)) {
		line_end(c, vm);
		l->continued = true;
		(void)console_line_put(l); /* it fits, because the line is empty */
	} else if (c->open == vm) {
		console_put(c, l->unit, l->unit_len);
	}
	if (is_live(c, vm))
		console_open(c, vm);
}

static void put_byte(struct console *c, unsigned int vm, uint8_t ch)
{
	struct console_line *l = &c->lines[vm];

	if (!console_line_feed(l, ch))
		return;
	/* A CR without LF ends the line, too, so that no text is lost. */
	if (ch == '\n' || (l->cr && ch != '\r' && (l->len > 0 || c->open == vm)))
		line_end(c, vm);
	l->cr = ch == '\r';
	if (ch == '\b' && console_line_back(l) && c->open == vm)
		console_put_text(c, "\b \b");
	else if (ch != '\n' && ch != '\r' && ch != '\b')
		put_char(c, vm);
}

size_t console_vm_write(struct console *c, unsigned int vm, const char *bytes, size_t n)
{
	size_t done = 0, most = console_most(c);

	c->work = 0;
	if (c->frames)
		return console_frame_write(c, vm, bytes, n);
	while (done < n && c->work < most)
		put_byte(c, vm, (uint8_t)bytes[done++]);
	return done;
}

void console_vm_ended(struct console *c, unsigned int vm, bool ended)
{
	struct console_line *l = &c->lines[vm];

	l->ended = ended;
	/* The rest of a line from before frames comes later. */
	if (c->frames && !console_frames_vm(c, vm))
		return;
	if (!c->frames && (l->len > 0 || c->open == vm))
		line_end(c, vm);
	console_line_restart(l);
}

/* Whether all bytes of a word are printable ASCII: below 0x80, not below ' ', not DEL. */
static bool all_printable(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101, tops = ones << 7;
	uint64_t low = word & ~tops;

	return ((low + ones * (0x80 - ' ')) & ~(low + ones) & ~word & tops) == tops;
}

/* Returns how many of the n characters at the start of the text are printed unchanged. An answer's
 * line of hundreds of them is printed in one stay, so aligned words are looked at. */
static size_t shown(const char *text, size_t n)
{
	size_t i = 0;

	while (i < n) {
		const char *at = text + i;

		if (n - i >= 8 && !((uintptr_t)at & 7) &&
		    all_printable(*(const uint64_t *)(const void *)at))
			i += 8;
		else if ((*at >= ' ' && *at <= '~') || *at == '\t')
			i++;
		else
			break;
	}
	return i;
}

void console_tally_puts(struct console *c, const char *line)
{
	size_t n = strlen(line), same;

	console_close(c);
	console_put_text(c, c->frames ? RS "!" : "tally: ");
	for (; n > 0; line += same, n -= same) {
		same = shown(line, n);
		console_put(c, same > 0 ? line : "?", same > 0 ? same : 1);
		same = same > 0 ? same : 1;
	}
	newline(c);
}

void console_set_focus(struct console *c, unsigned int vm)
{
	char text[CONSOLE_NAME_BYTES + 64];

	c->focus = vm;
	(void)tally_snprintf(text, sizeof(text), "input goes to %s (Ctrl-T ? for help)",
	                     c->names[vm]);
	console_tally_puts(c, text);
	if (is_live(c, vm) && !c->frames && c->lines[vm].len > 0)
		console_open(c, vm);
}

void console_init(struct console *c, bool interactive, const char *const *names, unsigned int n)
{
	memset(c, 0, offsetof(struct console, edit.last));
	c->interactive = interactive;
	c->open = CONSOLE_NOBODY;
	c->room = SIZE_MAX;
	c->n_vms = n;
	for (unsigned int i = 0; i < c->n_vms; i++)
		c->names[i] = names[i];
	c->names[CONSOLE_PROMPT] = "the prompt";
}
