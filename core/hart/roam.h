/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Roaming, for tests, which need many moves: with `tally.roam` of `make DEBUG=1` each vcpu goes to
 * the next of its harts after every time slice and whenever it waits (core/debug/roam.c).
 */
#ifndef CORE_HART_ROAM_H
#define CORE_HART_ROAM_H

#include <stdbool.h>

struct vcpu;

#ifdef TALLY_DEBUG
/* Whether the command line asks for it. Constant after boot. */
extern bool vcpus_roam;

/* If vcpus roam, makes the resident vcpu move to the next of its harts as soon as it can. */
void roam(struct vcpu *vcpu);

/* If vcpus roam, keeps the hart asleep until the old home of a vcpu that arrives is asleep, too.
 * Called where requests are served. */
void roam_nap(void);
#else
#define vcpus_roam false
#define roam(vcpu) ((void)(vcpu))
#define roam_nap() ((void)0)
#endif

#endif
