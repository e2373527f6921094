/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a VM's life: core/life/vm_life.h has the rest. */
#ifndef CORE_VCPU_VM_END_H
#define CORE_VCPU_VM_END_H

#include "core/lib/types.h"
#include "core/vcpu/vm_state.h"

struct vm;
struct vcpu;

const char *vm_state_name(const struct vm *vm);

/*
 * Ends a life: stops all vcpus, on all harts. `by` is the vcpu that caused the end, NULL if none
 * did. `failure` and `value` are for VM_END_FAILED. Any hart may call it; only the first call in a
 * life has an effect.
 */
void vm_end(struct vm *vm, const struct vcpu *by, enum vm_end why, const char *failure,
            uint64_t value);

/* Ends a VM whose guest did not ring in time (core/life/heart.h). Lead hart only. */
void vm_heartbeat_missed(struct vm *vm);

/* Ends the VM of a vcpu that cannot continue. The vcpu is resident on this hart. */
void vm_failed(struct vcpu *vcpu, const char *failure, uint64_t value);

#endif
