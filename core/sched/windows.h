/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Harts with a schedule (docs/windows.md). Outside its windows a vcpu is *away*: not in
 * pcpu->present, so not in pcpu->ready; its wake time is not in pcpu->wake; and requests, except
 * the operator's reads of counters, set its bit in pcpu->parked. Its own state does not change: a
 * turn changes masks and pointers of the hart. So code that chooses among ready vcpus, and sets
 * timers for them, need not know about windows.
 */
#ifndef CORE_SCHED_WINDOWS_H
#define CORE_SCHED_WINDOWS_H

#include "core/host/vm_config.h"
#include "core/vcpu/vcpu.h"

/* Gives harts the schedules of the tree, and logs their promises. All vcpus have been made. All
 * vcpus of such a hart are away until windows_start(). Boot hart only. */
void windows_make(const struct vm_tree *tree, void *(*alloc)(size_t size));

/* Begins the first frame at this host time. Boot hart only, once, when the VMs have begun. */
void windows_start(uint64_t now);

/* Returns the time since the first frame began. Any hart may call it. */
uint64_t windows_since(uint64_t now);

/* Whether the calling hart, which has a schedule, must switch to the next phase. */
bool windows_switch_due(const struct pcpu *pcpu, uint64_t now);

/* Switches to the next phase. No vcpu is resident.
 * Called on this hart. */
void windows_switch(struct pcpu *pcpu, uint64_t now);

/* The hart, which has a schedule, becomes idle: a vcpu that begins the window later is not late. */
void windows_idle(const struct pcpu *pcpu);

/* Returns the host time at which a vcpu loaded at `now` starts to run. The hart has a schedule. */
uint64_t windows_start_time(const struct pcpu *pcpu, uint64_t now);

/* Called when the vcpu has been loaded on a hart with a schedule, at host time `now`. If its window
 * begins later, because of the guard, this waits. Then it usually enters the guest at that tick and
 * does not return. */
void windows_vcpu_loaded(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now);

/* Whatever is due while a vcpu waits for its window comes behind its first instructions: at this
 * time, if the window begins at `at`. windows_hold_off(): interrupts of devices and other harts
 * pend already, and are masked until then. windows_let_come(): if so, not any more. On this hart.
 */
uint64_t windows_calm_until(uint64_t at);
void windows_hold_off(struct pcpu *pcpu, uint64_t until);
void windows_let_come(struct pcpu *pcpu);

/* Called when the vcpu begins the window at host time `now`: records how late that is. If HS still
 * has to set its OF bits (core/vcpu/hart_flags.h), windows_flags_set() does so. */
void windows_vcpu_began(struct vcpu *vcpu, uint64_t now);

/* Called when the OF bits are set. The hart has a schedule. */
void windows_flags_set(struct vcpu *vcpu);

/* The source with this bit, of any mask of 64, is on in the windows of the vcpu only, or not any
 * more. The vcpu's home has a schedule, and the caller holds its `gate`. */
void windows_set_wire(const struct vcpu *vcpu, uint64_t wire, bool on);

/* Whether the vcpu's home has a schedule and the vcpu is outside its windows. Exact only at
 * home. */
bool vcpu_is_away(const struct vcpu *vcpu);

#endif
