/* SPDX-License-Identifier: Apache-2.0 */
/* What the console puts on the screen. The console lock is held. */
#ifndef CORE_CONSOLE_CONSOLE_DRAW_H
#define CORE_CONSOLE_CONSOLE_DRAW_H

#include "core/console/console.h"

/* How much of an unfinished line is drawn again after somebody else's line. What was before it has
 * wrapped and still stands above. */
#define REDRAW_BYTES 256u

/* console_vm_write() stops before the byte after so many emitted ones. */
#define WORK_BYTES 256u

void console_put(struct console *c, const char *s, size_t n);
void console_emit_text(struct console *c, const char *s);
void console_newline(struct console *c);
void console_prefix(struct console *c, unsigned int vm);
bool console_has_line(const struct console *c, unsigned int vm);
bool console_is_live(const struct console *c, unsigned int vm);
void console_draw(struct console *c, unsigned int vm, unsigned int max);
void console_erase(struct console *c);
void console_restore(struct console *c);

/* core/console/console_frame.c. Ends the frame of output that is open, if any. */
void console_frame_close(struct console *c);

/* A frame that is a whole line. kind: what it is, as docs/frames.md has it. */
void console_frame_line(struct console *c, const char *kind, const char *text);

/* console_vm_write() while frames are on. */
size_t console_frame_write(struct console *c, unsigned int vm, const char *bytes, size_t n);

/* core/console/console_full.c. The escape sequence that vm's ansi holds: was it one that shows or
 * leaves the other screen, and all that it asks is done? */
bool console_full_escape(struct console *c, unsigned int vm);

/* A unit of the VM in focus, which has the whole screen. */
void console_full_put(struct console *c, enum ansi_token token, uint8_t ch);

/* The focus moves: away from the VM that has the screen, and to a VM that may have had it. */
void console_full_pause(struct console *c);
void console_full_resume(struct console *c);

/* vm's program is no more. */
void console_full_end(struct console *c, unsigned int vm);

/* What the user asked for. */
void console_full_toggle(struct console *c, unsigned int vm);

#endif
