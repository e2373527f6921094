/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the vPMU asks of the world, resolved at link time: core/vm/vpmu_port.c on a hart; on a
 * host tests/host/fake_port*.c, over a fake hart, in the model test, and tests/host/vpmu_stub.c,
 * which records what it is asked, in the unit tests.
 *
 * Every call concerns the hart that makes it and the vcpu resident there. The hart is in
 * HS-mode with interrupts off, and each counter started here is inhibited in M and U, and in HS
 * unless its filter has HW_COUNT_HS, with which it moves during all of these calls.
 *
 * Five groups, which every implementation keeps:
 *   counters        those of the hart: what they hold, set, run, stop, read, their overflow flags
 *   fixed counters  vpmu_port_fixed_*: those of HS, which are lent
 *   events          vpmu_port_event_* which counters can count one; vpmu_port_fw_* how often the
 *                   firmware's happened
 *   guest memory    vpmu_port_guest_*
 *   notices         what the vcpu's owner has to know or to do
 *
 * None of them calls vpmu/ back (tools/check-includes sees to it), but where it takes a counter
 * from a vcpu: vpmu_evict() then tells that one, and vpmu_evicted() the resident one, of which it
 * has asked vpmu_active().
 */
#ifndef VPMU_PORT_H
#define VPMU_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/hw_event.h"

/* A hardware counter, as the hart numbers it (vpmu/hw_event.h). */
typedef struct {
	uint32_t idx;
} hctr_t;

/* --- counters ------------------------------------------------------------------------------- */

/*
 * Makes a stopped counter hold an event and filter for the resident vcpu; its value is lost where
 * that changes what it holds. If it was another vcpu's, vpmu_evict() tells that one first. false:
 * the hardware refused.
 */
bool vpmu_port_prepare(hctr_t hctr, const struct hw_event *config);

/*
 * Gives stopped counters, prepared by this vcpu and not evicted since, one value. armed: they will
 * raise LCOFI when they wrap; else they wrap in silence. Returns those that the hardware refused.
 * None runs before vpmu_port_run(), which must follow in the same call of vpmu/.
 */
uint64_t vpmu_port_set(uint64_t hctr_mask, uint64_t value, bool armed);

/*
 * Starts counters that vpmu_port_set() has set, or that this vcpu stopped and nobody has touched
 * since: these go on from where they are, armed if they were.
 * No overflow may be pending (see vpmu_port_take_overflow) when this is called.
 */
void vpmu_port_run(uint64_t hctr_mask);

/* vpmu_port_set(), not armed, and vpmu_port_run() in one; and the same for one, armed. */
void vpmu_port_start(uint64_t hctr_mask, uint64_t value);
void vpmu_port_start_armed(hctr_t hctr, uint64_t value);

/* Stops running counters; they keep event, filter and value. hctr_mask: running ones only. */
void vpmu_port_stop(uint64_t hctr_mask);

/* The 64-bit value of a counter, running or stopped, that this vcpu started and nobody has touched
 * since. */
uint64_t vpmu_port_read(hctr_t hctr);

/*
 * Only with vpmu_policy.steps: adds one to running counters that stand still, and
 * takes nothing off their flags: as if one more event had happened. Returns those to which it did
 * nothing: their value is `last`.
 */
uint64_t vpmu_port_step(uint64_t hctr_mask, uint64_t last);

/* The same for one, of which it gives the value, too. */
uint64_t vpmu_port_step_read(hctr_t hctr, uint64_t last, uint64_t *value);

/* The set of hardware counters that VS (and VU, as scounteren says) reads without an exit. */
void vpmu_port_set_direct(uint64_t hctr_mask);

/*
 * Takes a pending LCOFI off the hart. Returns those of the armed counters whose overflow flag is
 * set. To be called before any start or stop, and on the interrupt. Cheap when nothing pends.
 *
 * A counter that moves in HS may wrap right after this. For a stop that does no harm; that none
 * pends in the moment of a start is then for the port to see to.
 */
uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs);

/*
 * Does nothing pend (see vpmu_port_take_overflow), and will the hardware refuse no value? Asked
 * before the short ways of a start and a stop.
 */
bool vpmu_port_is_quiet(void);

/* --- fixed counters ------------------------------------------------------------------------- */

/*
 * The fixed counters are lent. From vpmu_port_fixed_take(), which sets filter and value, to
 * vpmu_port_fixed_release() one is this vcpu's, to be set, run, stopped, read and stepped as others
 * are but never prepared. It is taken right before it is set and run, and released right after it
 * was stopped and read: HS itself may have use for it at any other time.
 */
void vpmu_port_fixed_take(hctr_t hctr, const struct hw_event *config, uint64_t value);
void vpmu_port_fixed_release(uint64_t hctr_mask);

/* --- events --------------------------------------------------------------------------------- */

/*
 * The hardware counters that can count the event, as a mask of hctr; 0: none. Fixed for a
 * hart's life. One bit only where the platform wants a home counter for each event, and besides
 * it the event's fixed counter, where filters work on that. To answer for a raw event hctrs that do
 * not run may be taken from whoever has them, the resident vcpu included: vpmu_evict(),
 * vpmu_evicted().
 */
uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data);

/*
 * A raw event that is another event of this hart under the number that its counters know it by
 * becomes that event; all others stay as they are. Fixed for a hart's life.
 */
void vpmu_port_event_of_raw(uint32_t *event_idx, uint64_t *event_data);

/*
 * The firmware events that running counters of this vcpu count now, of those that
 * vpmu_policy.fw_port_events names, as a mask of codes. Told when it changes, for the port to
 * keep with the vcpu: a world switch does not change it.
 */
void vpmu_port_fw_watch(uint32_t codes);

/*
 * How often a firmware event (of fw_port_events while it is watched, or 256 and up) has happened
 * to this vcpu; only differences matter. Never goes back, nor jumps when it is watched or not.
 */
uint64_t vpmu_port_fw_total(uint32_t code);

/* --- guest memory --------------------------------------------------------------------------- */

/*
 * n bytes from or to the VM's RAM at gpa. false: not all of it is RAM of this VM, and nothing
 * was read or written. The guest may write there at any time: read once, then check, then use.
 */
bool vpmu_port_guest_read(uint64_t gpa, void *to, uint32_t n);
bool vpmu_port_guest_write(uint64_t gpa, const void *from, uint32_t n);

/* Is all of it RAM of this VM, which it stays as long as the VM lives? */
bool vpmu_port_guest_ram(uint64_t gpa, uint64_t n);

/* --- notices -------------------------------------------------------------------------------- */

/*
 * The resident vcpu wants vpmu_look() called when a counter can have gone on by so many, and not
 * much later; 2^64 - 1: no more. Takes the place of what it wanted before.
 */
void vpmu_port_look_after(uint64_t counts);

/* Each WFI of the resident vcpu has to trap from here on, which it did not before: see
 * vpmu_note_wfi(). */
void vpmu_port_trap_wfi(void);

/* Makes a virtual LCOFI pending in the resident vcpu (sip.LCOFIP). */
void vpmu_port_raise_lcofi(void);

/* Observer n (observe.h) of the resident vcpu ended with this value: its guest needs the counter.
 */
void vpmu_port_unobserved(uint32_t n, uint64_t value);

#endif
