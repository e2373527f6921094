/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One physical console shared by Tally and up to 16 VMs.
 *
 * Locking: the caller of every function holds the one console lock; any hart may call. Work per
 * call is bounded: a call on behalf of a VM emits at most CONSOLE_CALL_MOST bytes.
 *
 * Lines: only this code begins and ends lines (docs/console.md, "A bare line"), so no VM can change
 * another's line. Batch: only whole lines are printed, ended by LF. Interactive: lines end in CR
 * LF, and the unfinished line of the VM in focus is open: it is written as it grows.
 *
 * Frames: instead of lines, a program gets each VM's bytes unchanged (docs/frames.md).
 */
#ifndef CORE_CONSOLE_CONSOLE_H
#define CORE_CONSOLE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/console/console_line.h"
#include "core/lib/text.h"

#define CONSOLE_MAX_VMS    16u
#define CONSOLE_NAME_BYTES 32u
#define CONSOLE_KEY        0x14u /* Ctrl-T: introduces a command for Tally */

/* The most that one byte of a VM emits, and the most that a call on its behalf does: a line ends
 * and another one begins; in frames, a name and a piece of an unfinished line come before it. */
#define CONSOLE_BYTE_MOST 512u
#define CONSOLE_CALL_MOST 1200u

/* The prompt has a line of its own and can have the focus, as if it were one more VM. */
#define CONSOLE_PROMPT        CONSOLE_MAX_VMS
#define CONSOLE_NOBODY        (CONSOLE_MAX_VMS + 1)
#define CONSOLE_COMMAND_BYTES 64u

/* A request is a command that a program sends: Ctrl-T = ID COMMAND CR. Its answer changes neither
 * the focus nor the lines. */
#define CONSOLE_ID_BYTES 8u

struct console_request {
	bool open;     /* its bytes are being received */
	uint8_t len;   /* bytes in text[] */
	bool too_long; /* it does not fit */
	char text[CONSOLE_ID_BYTES + 1 + CONSOLE_COMMAND_BYTES + 1];
};

/* The prompt keeps this many commands for the arrow keys. */
#define CONSOLE_LAST 8u

struct console_edit {
	uint8_t at;       /* the cursor, in the text of the prompt's line */
	uint8_t sequence; /* the last of ESC, '[' and 'O' that was typed, or 0 */
	bool tab;         /* the last key was Tab */
	uint8_t recalled; /* n: the nth last command is shown; 0: none */
	uint32_t n;       /* commands that were entered */
	char last[CONSOLE_LAST][CONSOLE_COMMAND_BYTES + 1];
};

struct console {
	bool interactive;
	bool frames;        /* frames are on */
	uint8_t next;       /* CONSOLE_KEY: a key follows; '>': the letter of a VM follows */
	unsigned int open;  /* owner of the open line or frame: a VM, the prompt, or nobody */
	size_t work;        /* bytes emitted by this call */
	size_t room;        /* that the next console_vm_write() may emit; the caller sets it */
	unsigned int n_vms; /* 0..CONSOLE_MAX_VMS */
	uint32_t unnamed;   /* VMs whose name was not sent since frames began */
	unsigned int focus; /* gets the input: a VM (0 if there is none), or the prompt */
	unsigned int back;  /* the VM that had the focus before the prompt */
	const char *names[CONSOLE_MAX_VMS + 1];
	struct console_line lines[CONSOLE_MAX_VMS + 1];
	struct console_request request;
	struct console_edit edit; /* the last one: its commands are not cleared */
};

/* Sets up the console for n (at most CONSOLE_MAX_VMS) VMs. Their names are printable ASCII of at
 * most CONSOLE_NAME_BYTES, and must live as long as the console. n is 0 while the VMs are not
 * known; a second call sets everything up again. VM 0 gets the focus. Prints nothing. */
void console_init(struct console *c, bool interactive, const char *const *names, unsigned int n);

/*
 * Prints bytes of VM vm < n_vms. Returns the number of bytes that it took: at least one if n > 0
 * and c->room is CONSOLE_CALL_MOST, but not all if they cause much output (many short lines). When
 * frames have begun, it may be none: a long line from before comes first, in pieces. The caller
 * passes the rest after another exit. It emits at most c->room bytes. A byte without output costs
 * some 100 instructions, so n must be bounded.
 */
size_t console_vm_write(struct console *c, unsigned int vm, const char *bytes, size_t n);

/* Notes that VM vm has ended or starts again, and ends its unfinished line. Input for a VM that has
 * ended is dropped, and "next" skips it. */
void console_vm_ended(struct console *c, unsigned int vm, bool ended);

/* Turns frames for programs (docs/frames.md) on or off. If they are on already, they begin anew. */
void console_frames(struct console *c, bool on);

/* Sends VM vm's name, if frames have begun without it, and the next piece of the line that it had
 * not finished then. Returns false if more of that is left. The VM's next bytes send the same
 * before themselves, so the caller calls it for all VMs, in as many stays as that takes. */
bool console_frames_vm(struct console *c, unsigned int vm);

/* Gives the input to VM vm < n_vms, or to CONSOLE_PROMPT, and says so in a line. */
void console_set_focus(struct console *c, unsigned int vm);

/* Prints a line of Tally. A byte that is neither printable ASCII nor tab is printed as '?'. */
void console_tally_puts(struct console *c, const char *line);

/*
 * Takes one typed byte. Returns the VM that gets it, or -1 if no VM does: the byte is part of a
 * command for Tally, or no VM receives input. Keys after Ctrl-T: 1..9 move the focus to that VM, n
 * and p to the next and the previous one; g, s, r start, stop, restart the VM in focus; : opens the
 * prompt; ? prints help; Ctrl-T is the byte itself, and leaves the prompt. For programs: = begins a
 * request, > and a letter choose a VM.
 */
int console_input(struct console *c, uint8_t ch);

/* A typed command has been answered. Shows the prompt again, if it has the focus. */
void console_prompt_ready(struct console *c);

/* Prints a line of the answer to request id, or its end with a status if text is NULL. It may be
 * printed in the middle of another line; the program that reads the serial line removes it
 * there. */
void console_answer(struct console *c, const char *id, const char *text, unsigned int status);

/* Adds line `row`, from 0, of the text about the keys, of less than 80 bytes. Returns whether
 * another one follows. */
bool console_help(const struct console *c, unsigned int row, struct text *text);

/* Returns the VM that console_input() would return for an ordinary byte, or -1. While that VM has
 * no room for input, the caller leaves typed bytes in the UART, so that pasted text is not lost. */
int console_target(const struct console *c);

#endif
