/* SPDX-License-Identifier: Apache-2.0 */
/* Commands of the user to a VM. Any hart may give one; the lead hart takes it up
 * (core/life/vm_life.h). */
#ifndef CORE_VCPU_VM_COMMAND_H
#define CORE_VCPU_VM_COMMAND_H

#include "core/lib/types.h"

struct vm;
struct vm_device;

/* All except NONE and START end the running life. */
enum vm_command {
	VM_COMMAND_NONE,
	VM_COMMAND_START,
	VM_COMMAND_STOP,
	VM_COMMAND_RESTART,
	/* Stops the VM permanently. Like a VM that ended by itself, it does not keep the machine
	 * on. */
	VM_COMMAND_POWER_OFF
};

/*
 * Any hart may call it. It returns at once, and the lead hart acts. Several commands have the same
 * effect as one after the other: a stop and a start are a restart. Returns false if there is
 * nothing to do: the VM already runs and has no command to stop (START), or is off (STOP).
 */
bool vm_give_command(struct vm *vm, enum vm_command c);

/* Returns a device that the VM has used and that Tally cannot reset for another life, or NULL if
 * there is none. Any hart may call it. */
const struct vm_device *vm_needs_reset(const struct vm *vm);

/*
 * Answers to a request for a life to begin or to end. vm_try_command() gives
 * commands from another VM, for which the target VM pays only if the command is taken. `c` is
 * VM_COMMAND_START, VM_COMMAND_STOP or VM_COMMAND_RESTART.
 */
enum vm_answer {
	VM_ANSWER_TAKEN,
	VM_ANSWER_ALREADY, /* it runs already, or is off already */
	VM_ANSWER_BUSY,    /* it is between two states, or has a pending command */
	VM_ANSWER_NEVER,   /* it cannot start any more */
	VM_ANSWER_NO_WAY,  /* the VM tree has no way to ask it */
	VM_ANSWER_CLOSED,  /* its kernel has not opened the console, or the key, in this life */
};
enum vm_answer vm_try_command(struct vm *vm, enum vm_command c);

/* Takes the pending command, and leaves VM_COMMAND_NONE. Lead hart only. */
enum vm_command vm_command_take(struct vm *vm);

#endif
