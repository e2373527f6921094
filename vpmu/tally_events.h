/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tally's own firmware events: codes of type 15 that SBI 3.0 table 35 leaves to the
 * implementation. docs/events.md says what each means to the guest that counts it. A guest may
 * have learnt a code: none ever changes its meaning, and new ones follow the last.
 */
#ifndef VPMU_TALLY_EVENTS_H
#define VPMU_TALLY_EVENTS_H

/* Times that the vcpu left the guest for Tally: the sum of those below. */
#define TALLY_EVENT_EXITS 256U

/* The same by cause, in the order of enum vcpu_exit. */
#define TALLY_EVENT_EXITS_ECALL 257U /* an SBI call */
#define TALLY_EVENT_EXITS_TIMER 258U /* the hart's timer: time slices, other vcpus' wake-ups */
#define TALLY_EVENT_EXITS_IRQ   259U /* another interrupt of the hart: IPI, console */
#define TALLY_EVENT_EXITS_LCOFI 260U /* a counter of the hart overflowed */
#define TALLY_EVENT_EXITS_MMIO  261U /* an access to an emulated device */
#define TALLY_EVENT_EXITS_CSR   262U /* a CSR read that is answered, or refused */
#define TALLY_EVENT_EXITS_WFI   263U /* WFI, or WRS.NTO */
#define TALLY_EVENT_EXITS_OTHER 264U /* whatever else */

/* Instructions that the hart executed in HS and M for this vcpu, in stays that are over. */
#define TALLY_EVENT_HS_INSTRUCTIONS 265U

/* Time during which the vcpu wanted to run and another one was on the hart, in timebase ticks. */
#define TALLY_EVENT_STEAL_TICKS 266U

/* Times that a virtual LCOFI was made pending. */
#define TALLY_EVENT_LCOFI_INJECTED 267U

/* Calls of counter_config_matching that were answered with NOT_SUPPORTED. */
#define TALLY_EVENT_REFUSALS 268U

/* The longest stay in HS and M for this vcpu so far, in instructions: a record, not a sum. */
#define TALLY_EVENT_LONGEST_STAY 269U

/* Virtual LCOFIs held back because as many had come as the VM may have in 10 ms. */
#define TALLY_EVENT_LCOFI_HELD 270U

#define TALLY_EVENT_FIRST 256U
#define TALLY_EVENTS      15U

#endif
