/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one terminal that Tally and the VMs share: what they print goes to the serial line through
 * core/console/console.h, what is typed goes to the VM in focus or to the prompt. The boot hart
 * reads.
 */
#ifndef CORE_OPERATOR_TERMINAL_H
#define CORE_OPERATOR_TERMINAL_H

#include "core/config/vm_config.h"

/* From now on Tally's own lines go through the console. After log_init(), boot hart. */
void terminal_init(void);

/* From now on guests may print. Boot hart. */
void terminal_set_vms(const struct vm_tree *tree);

/* Frames for programs (docs/frames.md) begin, or end. */
void terminal_frames(bool on);

/* The serial line interrupts this hart when something is typed. Boot hart. */
void terminal_enable_input(void);

#endif
