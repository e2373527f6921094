/* SPDX-License-Identifier: Apache-2.0 */
/* What the console's files need of each other. The console lock is held. For them only. */
#ifndef CORE_CONSOLE_CONSOLE_PARTS_H
#define CORE_CONSOLE_CONSOLE_PARTS_H

#include "core/console/console.h"

/* console_vm_write() stops before the byte after so many emitted ones. */
#define WORK_BYTES 256u

#define RS "\036" /* begins a frame; no VM's output holds it */

void console_put(struct console *c, const char *s, size_t n);
void console_put_text(struct console *c, const char *s);

/* Ends the line or the frame that is open, if any. */
void console_close(struct console *c);

/* Shows the line that vm, or the prompt, has not finished, and leaves it open. */
void console_open(struct console *c, unsigned int vm);

/* core/console/console_frame.c. A frame that is a whole line. kind: what it is, as docs/frames.md
 * has it. */
void console_frame_line(struct console *c, const char *kind, const char *text);

/* console_vm_write() while frames are on. */
size_t console_frame_write(struct console *c, unsigned int vm, const char *bytes, size_t n);

/* core/console/console_prompt.c. A byte typed at the prompt, which has the focus. */
void console_prompt_key(struct console *c, uint8_t ch);

/* Moves the focus to the prompt, and back. */
void console_prompt_open(struct console *c);
void console_prompt_leave(struct console *c);

/* core/console/console_request.c. A byte of a request. */
void console_request_key(struct console *c, uint8_t ch);

#endif
