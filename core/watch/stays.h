/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of stays (docs/tracing.md): each stay in HS, and each change of the resident vcpu, is
 * recorded in the hart's ring of the client that has begun the trace (core/watch/samples.h). The
 * stays of a vcpu with an account (core/watch/account.h) are added to its account.
 *
 * Without a trace this costs nothing. A stay is recorded when it is accounted, where the code
 * compares it with the longest one anyway: while stays are recorded ctx.hs_longest is 0, so each
 * one is longer. Another trap vector calls record_exit() at each exit. The instructions of
 * recording come after the read of instret that ends a stay, so they are accounted to no vcpu: a
 * stay is as long as without a trace.
 */
#ifndef CORE_WATCH_STAYS_H
#define CORE_WATCH_STAYS_H

#include "core/lib/types.h"
#include "core/vcpu/observers.h"

struct sample_ring;
struct vcpu;
struct vm;

/*
 * A record begins with a word like that of a sample, but with bit 31 set: its number on this hart
 * in bits 63:32, STAYS_* in 31:24, the vcpu's index on the machine in 23:16, and its number of
 * words in 7:0. The second word is the host time. The next words are:
 * - BEGIN, END: instructions accounted to the vcpu so far;
 * - STAY: 1. its length: ticks in bits 63:32, and instructions in 31:0;
 *   2. in 7:0 scause, with its uppermost bit in bit 7, or STAY_GOES_ON; in 15:8 enum vcpu_exit; in
 *   23:16 the index of the vcpu that is resident at its end, 255 if there is none; in 47:32
 *   interrupts injected into this vcpu during the stay, as in hvip;
 *   3. if it began with an exit, the guest's pc;
 *   4. and 5. if that was an exception: extension and function of an ECALL, otherwise stval and the
 *   guest physical address of htval;
 * - COME: the vcpu's steal time so far, in ticks; interrupts injected since its last GO;
 * - GO: STAYS_READY, STAYS_WAITING or STAYS_OFF; interrupts injected since the last STAY; the
 *   vcpu's steal time so far;
 * - MOVED: none; this hart is the vcpu's home from now on.
 *
 * A missing number belongs to a record for which there was no room.
 */
enum { STAYS_STAY = 0x80, STAYS_COME, STAYS_GO, STAYS_MOVED, STAYS_BEGIN, STAYS_END };
enum { STAYS_OFF, STAYS_READY, STAYS_WAITING };
#define STAY_GOES_ON 0xffU

/* Chooses the VM whose stays the next request records, and the rings for that; NULL: all VMs. Of
 * other VMs only COME and GO are recorded. For the holder of the prompt, while no request is posted
 * and no vcpu is traced. */
void stays_choose(const struct vm *vm, struct sample_ring *rings);

/* Serve the operator's request (core/watch/observe.h). Home hart only. */
void stays_begin(struct vcpu *vcpu);
void stays_end(struct vcpu *vcpu);

/* Starts or stops recording the vcpu's stays, for a trace or for its account
 * (core/watch/account.h). Both may be on, independently of each other. Home hart only. */
void stays_start_recording(struct vcpu *vcpu, uint32_t user);
void stays_stop_recording(struct vcpu *vcpu, uint32_t user);

/* A traced vcpu becomes resident, or leaves the hart. */
void stays_load(struct vcpu *vcpu);
void stays_put(struct vcpu *vcpu);

/* The vcpu has moved to this home hart, or is about to leave it. */
void stays_arrive(struct vcpu *vcpu);
void stays_leave(struct vcpu *vcpu);

#endif
