/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/vm_command.h"

#include "core/vcpu/vm.h"

/* Returns the one command with the same effect as two in a row, so that one slot loses none. */
static enum vm_command both(enum vm_command first, enum vm_command then)
{
	if (then == VM_COMMAND_START && first > VM_COMMAND_START)
		return VM_COMMAND_RESTART;
	if (then == VM_COMMAND_STOP && first == VM_COMMAND_POWER_OFF)
		return VM_COMMAND_POWER_OFF;
	return then;
}

/* Adds a command, and returns the one that the lead hart will take up. */
static enum vm_command command(struct vm *vm, enum vm_command c)
{
	unsigned int waiting = atomic_load(&vm->command);
	enum vm_command all;

	do /* WAITS */
		all = both((enum vm_command)waiting, c);
	while (!atomic_compare_exchange_weak(&vm->command, &waiting, all));
	vcpu_request(vm->vcpus[0], REQ_LIFE);
	return all;
}

bool vm_give_command(struct vm *vm, enum vm_command c)
{
	unsigned int state = atomic_load(&vm->state);

	if (command(vm, c) == VM_COMMAND_START)
		return state != VM_RUNNING && state != VM_LOADING;
	return c != VM_COMMAND_STOP || state != VM_OFF;
}

const struct vm_device *vm_needs_reset(const struct vm *vm)
{
	/* life is private to the lead hart, but this member changes from 0 only once. */
	return *(const volatile uint64_t *)&vm->life.number ? vm_device_without_reset(vm->config)
	                                                    : NULL;
}

/* Sends no request for a command that would wait or has no effect: the hart that takes commands up
 * is interrupted only for changes of a VM's state, each of which takes the VM's own time slices. */
enum vm_answer vm_try_command(struct vm *vm, enum vm_command c)
{
	unsigned int none = VM_COMMAND_NONE, state = atomic_load(&vm->state);

	if (atomic_load(&vm->command) != none || (state != VM_RUNNING && state != VM_OFF))
		return VM_ANSWER_BUSY;
	if ((c == VM_COMMAND_START && state == VM_RUNNING) ||
	    (c == VM_COMMAND_STOP && state == VM_OFF))
		return VM_ANSWER_ALREADY;
	if (c != VM_COMMAND_STOP && (atomic_load(&vm->cannot_start) || vm_needs_reset(vm)))
		return VM_ANSWER_NEVER;
	if (!atomic_compare_exchange_strong(&vm->command, &none, c))
		return VM_ANSWER_BUSY;
	vcpu_request(vm->vcpus[0], REQ_LIFE);
	return VM_ANSWER_TAKEN;
}

enum vm_command vm_command_take(struct vm *vm)
{
	return (enum vm_command)atomic_exchange(&vm->command, VM_COMMAND_NONE);
}
