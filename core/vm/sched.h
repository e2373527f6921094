/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which vcpu runs on this hart: those that want to take turns of PCPU_SLICE_MS, and WFI gives the
 * hart away. Every call concerns the calling hart, which is the home of the vcpu named.
 */
#ifndef CORE_VM_SCHED_H
#define CORE_VM_SCHED_H

#include "core/vm/vcpu.h"

/* Puts the current vcpu away if another's turn has come or it cannot run; idles while nobody can.
 * Returns the vcpu to enter, resident. */
struct vcpu *sched_next(struct pcpu *pcpu);

/* It wants to run. */
void sched_set_ready(struct vcpu *vcpu);

/* Sets what requests interrupt the hart for a vcpu that is not resident: those that it would have a
 * turn for. It gets one if they are there already. */
void sched_heed(struct vcpu *vcpu);

/* The current one waits for an interrupt (WFI). */
void sched_wait(struct vcpu *vcpu);

/* The current one has nothing better to do: its turn is over if another wants to run. */
void sched_yield(void);

/* It waits: has its interrupt come? Not resident. */
void sched_wake_if_interrupted(struct vcpu *vcpu);

/* It will not run until sched_set_ready(). */
void sched_off(struct vcpu *vcpu);

/* Its VM has ended: takes it off the hart for this life, all of its PMU forgotten. */
void sched_remove(struct vcpu *vcpu);

/* It waits: it is woken at once, or when its timer comes. Not resident. */
void sched_wake_in_time(struct vcpu *vcpu);

/* The hart sleeps so long, whoever wants it. To be called where mail is served. */
void sched_nap(uint64_t ticks);

/* It is off, and its turns are for vm_life_work() until there is no more of it. */
void sched_work(struct vcpu *vcpu);
bool sched_works(const struct vcpu *vcpu);

/* The hart's timer interrupt. */
void sched_timer(void);

/* Another hart's IPI has interrupted the resident vcpu: whose stay is it that begins? */
void sched_mail_came(void);

/* Serves the requests of those vcpus of this hart for whom there is mail. Not in the middle of an
 * exit: the resident vcpu may be off, or gone to another hart, afterwards. */
void sched_serve_mail(void);
static inline void sched_check_mail(struct pcpu *pcpu)
{
	if (atomic_load_explicit(&pcpu->mail, memory_order_relaxed))
		sched_serve_mail();
}

#endif
