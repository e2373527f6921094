/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for the files of core/console only. The caller holds the console lock. */
#ifndef CORE_CONSOLE_CONSOLE_PARTS_H
#define CORE_CONSOLE_CONSOLE_PARTS_H

#include "core/console/console.h"

/* console_vm_write() takes no further byte after it has emitted this many bytes, where each piece
 * of output counts as PIECE_BYTES more: it costs some 200 instructions. So it ends two lines at
 * most. */
#define WORK_BYTES  96u
#define PIECE_BYTES 16u

#define RS "\036" /* begins a frame; a VM's output never contains it */

/* console_vm_write() takes a byte only while it has emitted fewer bytes than this, with those for
 * pieces. */
static inline size_t console_most(const struct console *c)
{
	size_t room = c->room < CONSOLE_BYTE_MOST ? 0 : c->room - CONSOLE_BYTE_MOST + 1;

	return room < WORK_BYTES ? room : WORK_BYTES;
}

void console_put(struct console *c, const char *s, size_t n);
void console_put_text(struct console *c, const char *s);

/* Ends the open line or frame, if there is one. */
void console_close(struct console *c);

/* Shows the unfinished line of vm, or of the prompt, and leaves it open. */
void console_open(struct console *c, unsigned int vm);

/* console_vm_write() while frames are on. */
size_t console_frame_write(struct console *c, unsigned int vm, const char *bytes, size_t n);

/* The prompt begins with an empty line. */
void console_edit_begin(struct console *c);

/* Takes a byte that is typed at the prompt. */
void console_edit_key(struct console *c, uint8_t ch);

#endif
