/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace of stays (docs/tracing.md): each stay in HS, and who becomes resident, are noted in the
 * ring of the hart (core/watch/samples.h), which the boot hart empties while the guests run. The
 * stays of a vcpu that has an account (core/watch/account.h) are noted there.
 *
 * Otherwise this costs nothing. A stay is noted when it is accounted, where the code asks
 * anyway whether it is the longest: while stays are noted ctx.hs_longest is 0, so each one is. What
 * an exit was is noted by another trap vector. The instructions that all this takes are behind the
 * reading of instret that ends a stay, so they are nobody's: a stay is as long as without it.
 */
#ifndef CORE_WATCH_STAYS_H
#define CORE_WATCH_STAYS_H

#include "core/lib/types.h"
#include "core/vcpu/stays_state.h"

struct vcpu;
struct vm;

/*
 * What is noted begins with a word as that of a sample, but with bit 31 set: its number on this
 * hart in bits 63:32, STAYS_* in 31:24, the vcpu's index on the machine in 23:16, and how many
 * words it has in 7:0. The second word is the host time. Then:
 *   BEGIN, END: instructions accounted to the vcpu so far;
 *   STAY: its length, ticks in bits 63:32 and instructions in 31:0;
 *     scause in bits 7:0, its uppermost bit the 7th, or STAY_GOES_ON; enum vcpu_exit in 15:8; the
 *     index of the resident vcpu at its end in 23:16, 255: none; interrupts that this vcpu got
 *     meanwhile in 47:32, as in hvip;
 *     if it began with an exit, the guest's pc;
 *     if that is an exception, two values: ECALL: extension and function; otherwise stval and htval
 *   COME: its steal time so far, in ticks; interrupts that it got since it went;
 *   GO: STAYS_READY, STAYS_WAITING or STAYS_OFF; interrupts that it got since the last STAY; its
 *     steal time so far;
 *   MOVED: nothing; this hart is its home from now on.
 * A number that is missing is of one for which there was no room.
 */
enum { STAYS_STAY = 0x80, STAYS_COME, STAYS_GO, STAYS_MOVED, STAYS_BEGIN, STAYS_END };
enum { STAYS_OFF, STAYS_READY, STAYS_WAITING };
#define STAY_GOES_ON 0xffU

/* Makes what each hart has for it. At boot; alloc() returns zeroed memory of any size. */
void stays_init(void *(*alloc)(size_t size));

/* Whose stays the next request is to note; NULL: of all VMs. Others are noted only to come and
 * to go. Boot hart only, while no request is posted. */
void stays_choose(const struct vm *vm);

/* Serve the operator's request (core/watch/observe.h). Home hart only. */
void stays_begin(struct vcpu *vcpu);
void stays_end(struct vcpu *vcpu);

/* The vcpu's stays are noted from now on, or not any more: for who traces, or for its account
 * (core/watch/account.h). Both may be, one does not see the other. Home hart only. */
void stays_note(struct vcpu *vcpu, uint32_t whom);
void stays_ignore(struct vcpu *vcpu, uint32_t whom);

/* A vcpu that is traced becomes resident, or leaves the hart. */
void stays_comes(struct vcpu *vcpu);
void stays_goes(struct vcpu *vcpu);

/* It has a new home from now on, or will have. */
void stays_arrive(struct vcpu *vcpu);
void stays_leave(struct vcpu *vcpu);

#endif
