/* SPDX-License-Identifier: Apache-2.0 */
/* What the console puts on the screen. The console lock is held. */
#ifndef CORE_CONSOLE_DRAW_H
#define CORE_CONSOLE_DRAW_H

#include "core/console.h"

/* How much of an unfinished line is drawn again after somebody else's line. What was before it has
 * wrapped and still stands above. */
#define REDRAW_BYTES 256u

void console_put(struct console *c, const char *s, size_t n);
void console_emit_text(struct console *c, const char *s);
void console_newline(struct console *c);
void console_prefix(struct console *c, unsigned int vm);
bool console_has_line(const struct console *c, unsigned int vm);
bool console_is_live(const struct console *c, unsigned int vm);
void console_draw(struct console *c, unsigned int vm, unsigned int max);
void console_erase(struct console *c);
void console_restore(struct console *c);

#endif
