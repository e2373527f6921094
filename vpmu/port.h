/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that the vPMU needs from outside. There are three implementations, one of which is
 * linked: core/pmu/vpmu_port.c on a hart; tests/host/fake_port*.c on the fake hart of the model
 * test; tests/host/vpmu_stub.c, which records requests, in the unit tests.
 *
 * Each call concerns the hart that makes it and the vcpu that is resident there. The hart is in
 * HS-mode with interrupts off. Counters that are started here never count M and U. They count HS
 * only if the filter has HW_COUNT_HS, and then they advance during these calls.
 *
 * The functions form five groups, in this order in every implementation:
 *   counters        of the hart: contents, set, run, stop, read, OF
 *   fixed counters  vpmu_port_fixed_*: those of HS, which are lent
 *   events          vpmu_port_event_*: counters that can count an event; vpmu_port_fw_*: how often
 *                   a firmware event happened
 *   guest memory    vpmu_port_guest_*
 *   notices         for the vcpu's owner
 *
 * Only vpmu_port_prepare() returns whether the hardware refused. If the hardware refuses to set,
 * run or stop a counter, or to give a fixed one its filter, vpmu/ learns this by
 * vpmu_handle_failed(), before the guest or another vcpu goes on. Until then such a counter may
 * have any value.
 *
 * None of them calls vpmu/ (tools/check/includes checks this), except to take a counter from a
 * vcpu: vpmu_evict() tells the vcpu that loses it, and vpmu_finish_evict() the resident one, whose
 * running counters vpmu_active() has returned.
 */
#ifndef VPMU_PORT_H
#define VPMU_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/hw_event.h"

/* A hardware counter, with the hart's number (vpmu/hw_event.h). */
typedef struct {
	uint32_t idx;
} hctr_t;

/* --- counters ------------------------------------------------------------------------------- */

/*
 * Makes a stopped counter hold an event and filter for the resident vcpu. If that changes what it
 * holds, its value is lost. If it belonged to another vcpu, vpmu_evict() tells that one first.
 * Returns false if the hardware refused.
 */
bool vpmu_port_prepare(hctr_t hctr, const struct hw_event *config);

/*
 * Sets the value of stopped counters that this vcpu has prepared and that were not evicted since.
 * armed: they raise LCOFI when they wrap; otherwise they wrap silently. They run after
 * vpmu_port_run(), which must follow in the same call of vpmu/.
 */
void vpmu_port_set(uint64_t hctr_mask, uint64_t value, bool armed);

/*
 * Starts counters that vpmu_port_set() has set, or that this vcpu stopped and no other has used
 * since. The latter continue with their value, and are armed if they were armed before.
 *
 * No overflow may be pending (see vpmu_port_take_overflow) when this is called.
 */
void vpmu_port_run(uint64_t hctr_mask);

/* vpmu_port_start(): vpmu_port_set(), not armed, and vpmu_port_run(). vpmu_port_start_armed(): the
 * same for one counter, armed. */
void vpmu_port_start(uint64_t hctr_mask, uint64_t value);
void vpmu_port_start_armed(hctr_t hctr, uint64_t value);

/* Stops running counters. They keep event, filter and value. All counters in hctr_mask must run. */
void vpmu_port_stop(uint64_t hctr_mask);

/* Returns the 64-bit value of a counter, running or stopped, that this vcpu started and no other
 * has used since. */
uint64_t vpmu_port_read(hctr_t hctr);

/* Whether a set or run of this counter was refused, and vpmu_handle_failed() was not called for it
 * yet: its value is of another time. */
bool vpmu_port_is_unstarted(hctr_t hctr);

/*
 * Only with vpmu_policy.steps. Adds one to a running counter, which stands still while the hart is
 * in HS. Does not change OF. *value becomes the new value. If the value is `last`, the counter does
 * not change, and its mask is returned; otherwise 0.
 */
uint64_t vpmu_port_step(hctr_t hctr, uint64_t last, uint64_t *value);

/* Sets which hardware counters VS (and VU, if scounteren permits) reads without an exit. */
void vpmu_port_set_direct(uint64_t hctr_mask);

/* Returns OF of all counters of the hart. Only with vpmu_policy.shows_flags. */
uint64_t vpmu_port_flags(void);

/*
 * Clears a pending LCOFI. Returns those of the armed counters whose OF is set, without those whose
 * start or stop was refused: theirs is of another time. Must be called before any start or stop,
 * and on the interrupt. Cheap if nothing is pending.
 *
 * A counter that counts HS may wrap right afterwards. That does not matter to a stop, and the
 * port's start copes with it.
 */
uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs);

/* Whether nothing is pending (see vpmu_port_take_overflow). Called before the fast paths of start
 * and stop. */
bool vpmu_port_is_quiet(void);

/* --- fixed counters ------------------------------------------------------------------------- */

/*
 * HS lends the fixed counters. From vpmu_port_fixed_take(), which sets filter and value, to
 * vpmu_port_fixed_release(), a fixed counter belongs to this vcpu. It is set, run, stopped, read
 * and stepped like others, but never prepared. It is taken directly before it is set and run, and
 * released directly after it was stopped and read, because HS may need it at any other time.
 */
void vpmu_port_fixed_take(hctr_t hctr, const struct hw_event *config, uint64_t value);
void vpmu_port_fixed_release(uint64_t hctr_mask);

/* --- events --------------------------------------------------------------------------------- */

/*
 * Returns the hardware counters that can count the event, as a mask of hctr; 0 if there are none.
 * Constant for a hart. If the platform needs home counters, only one of them is programmable. The
 * event's fixed counter is included if filters work on it. For a raw event, hctrs that do not run
 * may be taken from any vcpu, including the resident one: vpmu_evict(), vpmu_finish_evict().
 */
uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data);

/*
 * If a raw event has the selector of a standard event of this hart, replaces it by that event;
 * otherwise changes nothing. Constant for a hart.
 */
void vpmu_port_event_of_raw(uint32_t *event_idx, uint64_t *event_data);

/*
 * Reports the events of vpmu_policy.fw_port_events that running counters of this vcpu count, as a
 * mask of codes. Called when the mask changes. The port stores it with the vcpu, because a world
 * switch does not change it.
 */
void vpmu_port_fw_watch(uint32_t codes);

/*
 * Returns how often a firmware event (of fw_port_events while it is watched, or 256 and up) has
 * happened to this vcpu. Only differences have a meaning. It never decreases, and does not change
 * when watching begins or ends.
 */
uint64_t vpmu_port_fw_total(uint32_t code);

/* --- guest memory --------------------------------------------------------------------------- */

/*
 * Copy n bytes from or to the VM's RAM at gpa. Return false if not all of it is RAM of this VM;
 * then nothing was copied. The guest may write there at any time: read once, then check, then use.
 */
bool vpmu_port_guest_read(uint64_t gpa, void *to, uint32_t n);
bool vpmu_port_guest_write(uint64_t gpa, const void *from, uint32_t n);

/* Whether all of it is RAM of this VM. That does not change while the VM lives. */
bool vpmu_port_guest_ram(uint64_t gpa, uint64_t n);

/* --- notices -------------------------------------------------------------------------------- */

/*
 * Requests one call of vpmu_poll(), as soon as a counter may have advanced by `counts`. 2^64 - 1
 * cancels the request. Replaces the last request.
 */
void vpmu_port_poll_after(uint64_t counts);

/* Each WFI of the resident vcpu must trap from now on. Before, none did; see vpmu_note_wfi(). */
void vpmu_port_trap_wfi(void);

/* Makes a virtual LCOFI pending in the resident vcpu (sip.LCOFIP). */
void vpmu_port_raise_lcofi(void);

/* The resident vcpu has spent its budget (budget.h). Called once for each budget. */
void vpmu_port_budget_spent(void);

/* The hart has refused the counter of the resident vcpu's budget, which does not count any more. */
void vpmu_port_budget_lost(void);

/* Observer n (observe.h) of the resident vcpu has ended with this value, because the guest needs
 * the counter. */
void vpmu_port_observer_lost(uint32_t n, uint64_t value);

/*
 * A period of observer n of the resident vcpu is over, and `missed` more that were not noticed in
 * time. Returns the number of events of the next period: not 0, and less than a quarter of the
 * counters' range.
 */
uint64_t vpmu_port_sample(uint32_t n, uint64_t period, uint64_t missed);

#endif
