/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler's calls to higher rooms, which define these functions. */
#ifndef CORE_SCHED_PORT_H
#define CORE_SCHED_PORT_H

#include "core/vcpu/vcpu.h"

/* Serves those requests to a vcpu for which this hart was notified and which cannot wait for its
 * time slice. If the vcpu has just left this hart, notifies its home instead. */
void vcpu_serve_notified(struct vcpu *vcpu);

/* Serves all requests when the vcpu's time slice begins. Returns false if another hart owns the
 * vcpu now. The vcpu is not resident. Home hart only. */
bool vcpu_serve_turn(struct vcpu *vcpu);

/* Handles interrupts for HS; `pending` has the layout of sip. Called on this hart. */
void pcpu_interrupts(struct pcpu *pcpu, uint64_t pending);

/* heart_watch(): vcpu 0 starts, or has arrived on this hart, or a shutdown begins. heart_ignore():
 * the VM has ended, or vcpu 0 is about to leave this hart. Lead hart only. No effect for VMs with
 * neither heartbeat-ms nor shutdown. */
void heart_watch(struct vm *vm);
void heart_ignore(struct vm *vm);

/* Does one step between two lives, of at most some 3,500 instructions. Returns false if there is
 * nothing left to do. Lead hart only. */
bool vm_life_work(struct vm *vm);

/* Called when the guest has changed its enabled interrupts, or a vcpu has a new home. The caller
 * holds vm->devices. */
void wired_update_routes(struct vm *vm);

/* Disables and enables sources of the host's controller at a turn of this hart to other windows.
 * Masks of windows_set_wire(). The caller holds the hart's `gate`. */
void wired_turn(uint64_t off, uint64_t on);

/* From exit.c: enters the vcpu, which was loaded at host time `loaded`, at host time `at`. Returns
 * at that time if the vcpu is in a long call. */
void exit_enter_at(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t loaded, uint64_t at);

#endif
