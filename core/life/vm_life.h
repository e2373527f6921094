/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the end of a VM to its next life. Boot begins at CLEARING:
 *
 *              vm_end()          all vcpus off,      cleared,
 *     RUNNING ----------> ENDING ------> CLEARING ----------------> OFF
 *        ^                        logged   ^   | cleared, again      |
 *        |                      STOP       |   v                     | START
 *        +------------------------------ LOADING <-------------------+
 *                                 loaded
 *
 * Any hart may change RUNNING to ENDING. All other steps happen on the lead hart, which is the home
 * of vcpu 0, in time slices of vcpu 0. So other vcpus of that hart keep their share.
 */
#ifndef CORE_LIFE_VM_LIFE_H
#define CORE_LIFE_VM_LIFE_H

#include "core/lib/types.h"
#include "core/vcpu/vm_state.h"

struct vm;
struct vcpu;

/* The vcpu's VM has ended. Takes the vcpu off the hart for this life and resets its PMU. */
void vcpu_remove(struct vcpu *vcpu);

/* A vcpu of an ending VM has left its hart. Called on that hart. */
void vm_vcpu_stopped(struct vcpu *vcpu);

/* Makes the lead hart prepare the first life, which begins at once unless the VM is deferred. A VM
 * whose devices do not come to rest stays off, and has failed. Boot hart only. */
void vm_prepare(struct vm *vm, uint64_t now);

/* Serves REQ_LIFE of vcpu 0: a command, or the last vcpu has left its hart. Lead hart only. */
void vm_life_serve(struct vm *vm);

/* Sets the number of VMs whose end switches the machine off. Boot hart only. */
void vms_start_counting(uint32_t n);

#endif
