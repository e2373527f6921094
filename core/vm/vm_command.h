/* SPDX-License-Identifier: Apache-2.0 */
/* What the user wants of a VM: on its way from whoever asks to the lead hart (core/vm/vm_life.h).
 */
#ifndef CORE_VM_VM_COMMAND_H
#define CORE_VM_VM_COMMAND_H

#include "core/lib/types.h"

struct vm;

/* All but the first two end what runs. */
enum vm_command {
	VM_COMMAND_NONE,
	VM_COMMAND_START,
	VM_COMMAND_STOP,
	VM_COMMAND_RESTART,
	VM_COMMAND_POWER_OFF
};

/*
 * On any hart. They return at once; the lead hart acts. Several at once come to the same as one
 * after the other: a stop and a start are a restart. false: there is nothing to do, since it is
 * running and has not been told to stop (start), or is off (stop).
 */
bool vm_start(struct vm *vm);
bool vm_stop(struct vm *vm);
bool vm_restart(struct vm *vm);
/* Stops it for good: as if it had ended by itself, it does not keep the machine on. */
void vm_power_off(struct vm *vm);

/* What waits to be taken up, no more. Lead hart. */
enum vm_command vm_command_take(struct vm *vm);

#endif
