/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally's own firmware events: codes of type 15 that SBI 3.0 table 35 leaves to the implementation.
 * docs/events.md explains each for guests. Guests may rely on the codes, so a code never changes
 * its meaning, and new ones follow the last.
 */
#ifndef VPMU_TALLY_EVENTS_H
#define VPMU_TALLY_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

/* Exits of the vcpu: the sum of the next eight events. */
#define TALLY_EVENT_EXITS 256U

/* Exits by kind, in the order of enum vcpu_exit. */
#define TALLY_EVENT_EXITS_ECALL 257U /* an SBI call */
#define TALLY_EVENT_EXITS_TIMER 258U /* the hart's timer: time slices, wake-ups of other vcpus */
#define TALLY_EVENT_EXITS_IRQ   259U /* another interrupt of the hart: IPI, console */
#define TALLY_EVENT_EXITS_LCOFI 260U /* a counter of the hart overflowed */
#define TALLY_EVENT_EXITS_MMIO  261U /* an access to an emulated device */
#define TALLY_EVENT_EXITS_CSR   262U /* a CSR read, emulated or refused */
#define TALLY_EVENT_EXITS_WFI   263U /* WFI, or WRS.NTO */
#define TALLY_EVENT_EXITS_OTHER 264U /* any other exit */

/* Instructions that the hart executed in HS for this vcpu, in stays that are over. */
#define TALLY_EVENT_HS_INSTRUCTIONS 265U

/* Time during which the vcpu was ready while another one was on the hart, in ticks of the
 * timebase. */
#define TALLY_EVENT_STEAL_TICKS 266U

/* How often a virtual LCOFI became pending. */
#define TALLY_EVENT_LCOFI_INJECTED 267U

/* Calls of counter_config_matching that returned SBI_ERR_NOT_SUPPORTED. */
#define TALLY_EVENT_REFUSALS 268U

/* Instructions of the longest stay in HS for this vcpu: a maximum, not a sum. */
#define TALLY_EVENT_LONGEST_STAY 269U

/* Virtual LCOFIs that were held because the limit per 10 ms was reached. */
#define TALLY_EVENT_LCOFI_HELD 270U

/* Time during which the vcpu was kept off the hart because its budget was spent, in ticks of the
 * timebase. It is not steal time. */
#define TALLY_EVENT_THROTTLED_TICKS 271U

/* Whether HS counts the event of this code with instret. */
static inline bool tally_event_is_by_hs_clock(uint32_t code)
{
	return code == TALLY_EVENT_HS_INSTRUCTIONS || code == TALLY_EVENT_LONGEST_STAY;
}

#define TALLY_EVENT_FIRST 256U
#define TALLY_EVENTS      16U

#endif
