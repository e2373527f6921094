/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs ask over the line that people type at. Nothing is echoed: a half-typed line and the
 * focus are as they were. Answers go out in frames, whether others are on or not.
 */
#include "core/console/console_parts.h"
#include "core/lib/printf.h"

void console_answer(struct console *c, const char *id, const char *text)
{
	char head[CONSOLE_ID_BYTES + 3];

	(void)tally_snprintf(head, sizeof(head), "=%s ", id);
	console_frame_line(c, head, text);
}

void console_answer_end(struct console *c, const char *id, unsigned int status)
{
	char text[CONSOLE_ID_BYTES + 16];

	(void)tally_snprintf(text, sizeof(text), "%s %u", id, status);
	console_frame_line(c, ".", text);
}

static bool is_id_char(char ch)
{
	return (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z');
}

/* Cuts the id off. NULL: what was typed is no request. */
static const char *split(struct console_request *r)
{
	unsigned int n = 0;

	while (n <= CONSOLE_ID_BYTES && n < r->len && is_id_char(r->text[n]))
		n++;
	if (n == 0 || n > CONSOLE_ID_BYTES || n == r->len || r->text[n] != ' ')
		return NULL;
	r->text[n] = '\0';
	r->text[r->len] = '\0';
	return r->text + n + 1;
}

void console_request_key(struct console *c, uint8_t ch)
{
	struct console_request *r = &c->request;
	const char *text;

	if (ch != '\r' && ch != '\n') {
		/* What is no text makes it longer than any request may be. */
		if (ch < ' ' || ch > '~' || r->len >= sizeof(r->text) - 1)
			r->too_long = true;
		else
			r->text[r->len++] = (char)ch;
		return;
	}
	r->open = false;
	text = split(r);
	if (text)
		console_request(r->text, r->too_long ? NULL : text);
	else
		console_request("0", NULL);
}
