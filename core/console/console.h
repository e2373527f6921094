/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One physical console shared by Tally and up to 16 VMs.
 *
 * Locking: every function needs the one console lock, held by the caller; any hart may call. Work
 * per call is bounded: no call on behalf of a VM emits more than 1200 bytes.
 *
 * Lines: as in docs/console.md, "A bare line", made by this code alone, so no VM can touch one that
 * is not its own. Batch: only whole lines are printed, ended by LF. Interactive: lines end in CR
 * LF, and the line that the VM in focus has not finished is open: it is written as it grows.
 *
 * Frames: no lines are made, each VM's bytes go to a program as they come: docs/frames.md.
 */
#ifndef CORE_CONSOLE_CONSOLE_H
#define CORE_CONSOLE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/console/console_line.h"

#define CONSOLE_MAX_VMS    16u
#define CONSOLE_NAME_BYTES 32u
#define CONSOLE_KEY        0x14u /* Ctrl-T: introduces a command for Tally */

/* The prompt has a line of its own and can have the focus, as if it were one more VM. */
#define CONSOLE_PROMPT        CONSOLE_MAX_VMS
#define CONSOLE_NOBODY        (CONSOLE_MAX_VMS + 1)
#define CONSOLE_COMMAND_BYTES 64u

/* What a program asks, not a person: Ctrl-T = ID COMMAND CR. Its answer leaves the focus and the
 * lines alone. */
#define CONSOLE_ID_BYTES 8u

struct console_request {
	bool open;     /* it is being typed */
	uint8_t len;   /* of text[] */
	bool too_long; /* there was more */
	char text[CONSOLE_ID_BYTES + 1 + CONSOLE_COMMAND_BYTES + 1];
};

struct console {
	bool interactive;
	bool frames;  /* they are on */
	uint8_t next; /* CONSOLE_KEY, '>': that was typed, a key, or the letter of a VM is next */
	unsigned int open;  /* whose line, or frame of output, is at the end; CONSOLE_NOBODY */
	size_t work;        /* bytes emitted by this call */
	unsigned int n_vms; /* 0..CONSOLE_MAX_VMS */
	unsigned int focus; /* who gets the input: a VM, < n_vms unless that is 0, or the prompt */
	unsigned int back;  /* the VM that had it before the prompt */
	const char *names[CONSOLE_MAX_VMS + 1];
	struct console_line lines[CONSOLE_MAX_VMS + 1];
	struct console_request request;
};

/* Provided by whoever links this file: writes all n bytes to the physical console, in order and
 * unchanged. Called with the console lock held. */
void console_emit(const char *s, size_t n);

/* Likewise: carries out a command, later: prints nothing before it returns. id "": it was typed,
 * and when all is printed, console_prompt_ready() is called. Else a program's request, whose answer
 * ends by console_answer(); text NULL: it was none. */
void console_command(const char *id, const char *text);

/* names: n (at most CONSOLE_MAX_VMS) strings of printable ASCII, of at most
 * CONSOLE_NAME_BYTES, which must live as long as the console. n may be 0 (Tally's own lines before
 * the VMs are known); calling again starts over. VM 0 has the focus. Prints nothing. */
void console_init(struct console *c, bool interactive, const char *const *names, unsigned int n);

/*
 * Bytes printed by VM vm < n_vms. Returns how many it took: at least one, if n > 0,
 * but not all if they make much to emit (many short lines). The caller comes again with
 * the others, in another stay in HS. Without output a byte costs some 100 instructions, so n must
 * be bounded.
 */
size_t console_vm_write(struct console *c, unsigned int vm, const char *bytes, size_t n);

/* Tells whether VM vm exists, and ends the line that it has not finished: input for a VM that ended
 * is dropped, "next" skips it. */
void console_vm_ended(struct console *c, unsigned int vm, bool ended);

/* Frames for programs (docs/frames.md) begin, or begin once more; or end. Of the line that a VM has
 * not finished the next console_vm_write() tells, which may be of no bytes. */
void console_frames(struct console *c, bool on);

/* Gives the input to VM vm < n_vms, or to CONSOLE_PROMPT, and says so in a line. */
void console_set_focus(struct console *c, unsigned int vm);

/* Prints a line of Tally. Bytes that are not printable ASCII or tab come out as '?'. */
void console_tally_puts(struct console *c, const char *line);

/*
 * One byte typed by the user. Returns the VM that shall receive it, or -1 when there is nothing to
 * deliver (a command for Tally, or nobody to receive it).
 * Commands after Ctrl-T: 1..9 focus on that VM, n/p next/previous one, g/s/r start, stop, restart
 * the one in focus, : the prompt, ? help, Ctrl-T the byte itself; that leaves the prompt. For
 * programs: = begins a request, > and a letter chooses a VM silently.
 */
int console_input(struct console *c, uint8_t ch);

/* The prompt reads on: shows it, if it has the focus. */
void console_prompt_ready(struct console *c);

/* A line of the answer to request id; text NULL: its end, with a status. In the middle of whatever
 * is on the screen; who reads the serial line takes it out. */
void console_answer(struct console *c, const char *id, const char *text, unsigned int status);

/* The VM that console_input() would name for an ordinary byte, or -1. While that VM has no room for
 * input, the caller had better leave what is typed in the UART: pasted text is then not lost. */
int console_target(const struct console *c);

#endif
