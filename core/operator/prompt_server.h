/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One prompt for several clients: the serial line, which is client 0, and VM n of the tree, which
 * is client n + 1. A client holds the prompt from the beginning of its command to the end, over
 * many stays in HS. The serial line may take it from a VM, and a VM from another one, after
 * 1/PROMPT_HOLD_HZ seconds. VMs begin nothing while the serial line waits.
 *
 * One lock protects the state of the prompt and the observers' request. It is only tried, so that
 * no hart waits for another one. Any hart may call these functions.
 */
#ifndef CORE_OPERATOR_PROMPT_SERVER_H
#define CORE_OPERATOR_PROMPT_SERVER_H

#include "core/lib/types.h"
#include "core/vcpu/vm.h"

#define PROMPT_SERIAL 0U

static inline uint32_t prompt_client(const struct vm *vm)
{
	return vm->index + 1;
}

/* How long a client has the prompt for itself; how long a VM waits for it. */
#define PROMPT_HOLD_HZ 10UL

/* Takes the lock. Returns false if another hart has it: the caller comes back in a later stay. */
bool prompt_enter(void);
void prompt_leave(void);

/* The caller has the lock from here on. `now` is the host time. */

/* The client holds the prompt if this returns true; false: it has to wait. */
bool prompt_take(uint32_t client, uint64_t now);

/* Whether the client still holds it. */
bool prompt_holds(uint32_t client);

/* The serial line waits for it from now on, until it takes it. */
void prompt_wait_serial(void);

/* Gives it back, if the client holds it. */
void prompt_release(uint32_t client);

#endif
