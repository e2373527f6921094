/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Harts with a schedule (docs/schedules.md). Outside its windows a vcpu is *away*: in none of its
 * hart's lists, without a wake time, and no request to it but the operator's look at counters is
 * enabled. What came meanwhile is found when its next window opens. So whoever chooses among ready
 * vcpus, and sets timers for them, need not know of windows.
 */
#ifndef CORE_SCHED_WINDOWS_H
#define CORE_SCHED_WINDOWS_H

#include "core/host/vm_config.h"
#include "core/vcpu/vcpu.h"

/* Makes the harts that the tree gives a schedule ready for it, and logs what
 * it promises. All vcpus are made, and all of such
 * a hart are away until windows_start(). Boot hart only. */
void windows_make(const struct vm_tree *tree, void *(*alloc)(size_t size));

/* The first frame begins at this host time. Boot hart only, once, when the VMs have begun. */
void windows_start(uint64_t now);

/* Returns for how long there have been frames. Any hart may call it. */
uint64_t windows_since(uint64_t now);

/* external_look() for the calling hart: what is open may change. A resident vcpu leaves first: see
 * windows_over(). */
void windows_look(void);

/* Whether the calling hart has to turn to what comes next in its schedule. It has one. */
bool windows_over(const struct pcpu *pcpu, uint64_t now);

/* Turns to it. No vcpu is resident. Called on this hart. */
void windows_turn(struct pcpu *pcpu, uint64_t now);

/* No vcpu is ready on this hart, which has a schedule. */
void windows_idle(const struct pcpu *pcpu);

/* Returns from when on a vcpu that is loaded at `now` on this hart, which has a schedule, runs. */
uint64_t windows_runs_at(const struct pcpu *pcpu, uint64_t now);

/* The vcpu has been loaded on a hart with a schedule, at host time `now`. Its window may begin
 * later, because of the guard: then this waits, and mostly enters the guest at that tick and does
 * not return. */
void windows_loaded(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now);

/* The window begins now, at host time `now`, with this vcpu. If its OF bits are still being made
 * (core/vcpu/hart_flags.h), it begins when they are. */
void windows_begun(struct vcpu *vcpu, uint64_t now);

/* They are. Called on the hart, which has a schedule. */
void windows_flags_made(struct vcpu *vcpu);

/* Whether the vcpu's home has a schedule, and the vcpu is outside its windows. Exact on its home
 * only. */
bool windows_away(const struct vcpu *vcpu);

#endif
