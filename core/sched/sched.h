/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of the vcpu that runs on this hart. Ready vcpus take time slices, whose lengths follow
 * from their VMs' shares. A vcpu in WFI gives the hart away. All functions are called on the home
 * hart.
 */
#ifndef CORE_SCHED_SCHED_H
#define CORE_SCHED_SCHED_H

#include "core/vcpu/vcpu.h"

/* Switches to another vcpu if the time slice of the resident one is over or it cannot run, and
 * idles while no vcpu can run. Returns the vcpu to enter, which is then resident. */
struct vcpu *sched_next(struct pcpu *pcpu);

/* The last step of sched_next() for a loaded vcpu that windows_vcpu_loaded() enters itself. The
 * timer comes at host time `calm_until` at the earliest. */
void sched_finish_entry(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t calm_until);

/* Blocks the vcpu by BLOCK_OFF alone, whatever its state is. */
void sched_off(struct vcpu *vcpu);

/* Enables the requests that make the vcpu ready, so that they interrupt the hart while it is not
 * resident. If one of them is already pending, the vcpu becomes ready. */
void sched_enable_requests(struct vcpu *vcpu);

/* Blocks the resident vcpu until an interrupt comes (WFI). */
void sched_wait(struct vcpu *vcpu);

/* Blocks the resident vcpu, which is in a long call, until sched_has_output(). That has no effect
 * if the vcpu does not wait. */
void sched_wait_for_output(struct vcpu *vcpu);
void sched_has_output(struct vcpu *vcpu);

/* Ends the time slice of the resident vcpu if another vcpu is ready. */
void sched_yield(void);

/* Wakes a vcpu that is blocked in WFI; it is not away, see core/sched/windows.h. */
void sched_wake(struct vcpu *vcpu);

/* Its hart has a schedule. If the vcpu sleeps and its timer expired outside its windows, steal time
 * has run since then. */
void sched_steal_since_timer(struct vcpu *vcpu);

/* Wakes a blocked vcpu if it has an interrupt. The vcpu is not resident. */
void sched_wake_if_interrupted(struct vcpu *vcpu);

/* Wakes a blocked vcpu at once if it has an interrupt, otherwise when its timer expires. The vcpu
 * is not resident. */
void sched_wake_in_time(struct vcpu *vcpu);

/* Spends the time slices of a vcpu that is off on vm_life_work(), until that is done. */
void sched_start_life_work(struct vcpu *vcpu);
bool sched_has_life_work(const struct vcpu *vcpu);

/* Accounts this stay, from the exit on, to a vcpu. No effect if its home is another hart. */
void sched_account_stay_to(struct vcpu *vcpu);

/* Accounts the rest of this stay to another vcpu of this hart. The work so far stays with the
 * former vcpu. */
void sched_account_rest_to(struct vcpu *vcpu);

/* Called when an IPI has interrupted the resident vcpu. Accounts the stay to the IPI's vcpu. */
void sched_handle_ipi(void);

/* Serves the requests of the vcpus of this hart that were notified. Returns whether there were any.
 * Must not be called in the middle of an exit, because the resident vcpu may be off or on another
 * hart afterwards. */
void sched_serve_notified(void);
static inline bool sched_check_notified(struct pcpu *pcpu)
{
	if (!atomic_load_explicit(&pcpu->notified, memory_order_relaxed))
		return false;
	sched_serve_notified();
	return true;
}

/* Ends the current stay and begins another one, without a guest in between, as if interrupts had
 * been taken. Returns whether there were any, or requests: the interrupt of a request that came
 * late is acknowledged with the request, and not seen. The caller sets the timer if it may be later
 * than the next event. */
bool sched_next_stay(struct pcpu *pcpu);

#endif
