/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ring for each hart with the last exits of the vcpus that the operator traces. When tracing is
 * off, it costs a slow exit one load and a fast exit nothing, because SBI calls are traced by
 * swapping the vcpu's table of extensions. Counter reads and overflows on the fast path are not
 * traced; the command `exits` counts them.
 */
#ifndef CORE_WATCH_TRACE_H
#define CORE_WATCH_TRACE_H

#include "core/lib/types.h"
#include "core/vcpu/exit_record.h"
#include "core/vcpu/vm.h"

#define TRACE_SHOWN 64U

/* Makes the rings, and turns tracing off for all vcpus. At boot, after vsbi_init(). alloc() returns
 * zeroed memory of any size. */
void trace_init(void *(*alloc)(size_t size));

/* Traces the vcpus of vm, or of all VMs if it is NULL. Turning off always concerns all VMs. Boot
 * hart only. */
void trace_switch(const struct vm *vm, bool on);

/* Stores an exit of a traced vcpu. Home hart. */
void trace_exit(const struct exit_record *exit);

/* Copies the newest exits of all harts, newest first: the first ones with *n = 0, then more. Adds
 * their number to *n. Returns whether these were the last. Boot hart only. */
bool trace_newest(struct exit_record exits[TRACE_SHOWN], uint32_t *n);

#endif
