/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one terminal that Tally and the VMs share. Output goes to the serial line through
 * core/console/console.h. Input goes to the VM in focus or to the prompt; the boot hart reads it.
 */
#ifndef CORE_OPERATOR_TERMINAL_H
#define CORE_OPERATOR_TERMINAL_H

#include "core/host/vm_config.h"
#include "core/lib/text.h"

/* Sends Tally's own lines through the console. Boot hart only, after log_init(). */
void terminal_init(void);

/* Sets the console's VMs. They may print afterwards. Boot hart only. */
void terminal_set_vms(const struct vm_tree *tree);

/* Turns frames for programs (docs/frames.md) on or off. */
void terminal_frames(bool on);

/* Sends the VM's name and a piece of its unfinished line when frames have begun, as part of an
 * answer. Returns false if more is left (console_frames_vm()). */
bool terminal_frames_vm(uint32_t vm);

/* Adds a line of the text about the console's keys (console_help()). */
bool terminal_help(uint32_t row, struct text *text);

/* Makes the serial line interrupt this hart when something is typed, or when it takes more output,
 * which does not wait for it from now on. memory has RING_BYTES(n_vms) bytes. Boot hart only. */
void terminal_enable_input(void *memory);

#endif
