/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full-screen programs (vi, top): the VM in focus has the whole screen while it shows the
 * terminal's other screen (ESC [ ? 1049 h ... l), or from Ctrl-T f to Ctrl-T f. Its units then pass
 * as they are, no prefix, nothing drawn again. Lines of all others are told in frames, which
 * tools/run keeps until the screen is free: nobody waits, and nothing is lost.
 */
#include <string.h>

#include "core/console/console_draw.h"
#include "core/lib/printf.h"

#define FRAME_ON  CONSOLE_FRAME "! on"
#define FRAME_OFF CONSOLE_FRAME "! off"

/* The other screen, empty; and back, with nothing left of what the program had set: to set the
 * region moves the cursor home (DECSTBM), so it is saved around that. */
#define OTHER_SCREEN "\033[?1049h\033[H\033[J"
#define OWN_SCREEN   "\033[?1049l"
#define AS_BEFORE    "\0337\033[r\0338\033[m\033[?25h"

static void frame(struct console *c, const char *text)
{
	console_emit_text(c, text);
	console_newline(c);
}

/* Does the sequence show (1) or leave (-1) the other screen? */
static int switches(const struct ansi *a)
{
	static const char *const numbers[] = {"1049", "1047", "47"};

	if (a->len < 4 || memcmp(a->bytes, "\033[?", 3) != 0)
		return 0;
	for (unsigned int i = 0; i < 3; i++) {
		size_t n = strlen(numbers[i]);

		if (a->len == n + 4 && memcmp(a->bytes + 3, numbers[i], n) == 0)
			return a->bytes[n + 3] == 'h' ? 1 : a->bytes[n + 3] == 'l' ? -1 : 0;
	}
	return 0;
}

static void take(struct console *c)
{
	struct console_line *l = &c->lines[c->focus];

	if (l->drawn)
		console_newline(c);
	console_line_reset(l);
	c->full = true;
	frame(c, FRAME_ON);
}

static void give_back(struct console *c)
{
	c->full = false;
	frame(c, FRAME_OFF);
}

bool console_full_escape(struct console *c, unsigned int vm)
{
	struct console_line *l = &c->lines[vm];
	int way = switches(&l->ansi);

	if (way == 0 || !c->interactive || vm >= c->n_vms)
		return false;
	l->full = l->other_screen = way > 0;
	if (vm != c->focus)
		return true;
	if (way > 0)
		take(c);
	console_put(c, l->ansi.bytes, l->ansi.len);
	return true;
}

void console_full_put(struct console *c, enum ansi_token token, uint8_t ch)
{
	struct console_line *l = &c->lines[c->focus];

	if (token == ANSI_CONTROL && (ch < '\a' || ch > '\r'))
		return;
	if (token == ANSI_ESCAPE && console_full_escape(c, c->focus)) {
		if (!l->full)
			give_back(c);
		return;
	}
	console_put(c, l->ansi.bytes, l->ansi.len);
}

void console_full_pause(struct console *c)
{
	if (!c->full)
		return;
	console_emit_text(c, AS_BEFORE);
	if (c->lines[c->focus].other_screen)
		console_emit_text(c, OWN_SCREEN);
	else
		console_newline(c);
	give_back(c);
}

void console_full_resume(struct console *c)
{
	const struct console_line *l = &c->lines[c->focus];

	if (c->focus >= c->n_vms || !l->full)
		return;
	take(c);
	if (l->other_screen)
		console_emit_text(c, OTHER_SCREEN);
}

void console_full_end(struct console *c, unsigned int vm)
{
	if (vm == c->focus)
		console_full_pause(c);
	c->lines[vm].full = false;
	c->lines[vm].other_screen = false;
}

void console_full_toggle(struct console *c, unsigned int vm)
{
	char text[CONSOLE_NAME_BYTES + 64];
	bool full = !c->lines[vm].full;

	if (!c->interactive)
		return;
	if (!full)
		console_full_end(c, vm);
	(void)tally_snprintf(text, sizeof(text), "%.*s %s (Ctrl-T f)", (int)CONSOLE_NAME_BYTES,
	                     c->names[vm], full ? "has the whole screen" : "prints lines again");
	console_tally_puts(c, text);
	c->lines[vm].full = full;
	if (full && vm == c->focus)
		console_full_resume(c);
}
