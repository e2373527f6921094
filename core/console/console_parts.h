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

/* console_vm_write() while frames are on. */
size_t console_frame_write(struct console *c, unsigned int vm, const char *bytes, size_t n);

#endif
