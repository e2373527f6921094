/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of a vcpu for who is not its guest: hardware events by observers of its vPMU
 * (vpmu/observe.h), firmware events and Tally's own by differences. Nothing that the guest counts
 * or is answered changes by it.
 *
 * All of it is done by the vcpu's home hart. The boot hart, which serves the operator, posts what
 * it wants and looks again later whether it is done.
 */
#ifndef CORE_OBSERVE_H
#define CORE_OBSERVE_H

#include <stdatomic.h>

#include "core/types.h"
#include "vpmu/observe.h"

struct vcpu;

/* What is to be counted. */
struct observed_event {
	uint32_t event_idx;
	uint32_t flags; /* SBI_PMU_CFG_FLAG_SET_UINH, _SINH */
	uint64_t data;
};

struct observer {
	uint32_t number; /* of the observation that it is part of; 0: it is free */
	bool shared;     /* when last looked at: the guest counts the same on the same counter */
	/* Why it has ended, or never began; NULL: it counts. */
	const char *ended;
	struct observed_event event;
	uint64_t value; /* when it ended or was last looked at: ... */
	uint64_t until; /* ... host time of that */
	uint64_t since; /* host time at which it began */
	uint64_t base;  /* firmware events: their total then */
};

/* Embedded in its vcpu; private to the home hart. */
struct vcpu_observers {
	struct observer observer[VPMU_OBSERVERS];
};

enum observe_what { OBSERVE_BEGIN, OBSERVE_LOOK, OBSERVE_END };

/* Something to be done for a vcpu, and what came of it. */
struct observe_request {
	atomic_bool posted; /* until it is done, nothing else is touched by the one who asks */
	enum observe_what what;
	struct vcpu *vcpu;
	uint32_t number; /* to look at or to end: 0 is all */
	struct observed_event event;
	/* Those of that number, as they were in the same moment. A free one: number 0. */
	struct observer found[VPMU_OBSERVERS];
};

/* A place for requests of one who asks; they have to be made here, 0 .. OBSERVE_ASKERS - 1. */
#define OBSERVE_ASKERS 2U
extern struct observe_request observe_requests[OBSERVE_ASKERS];

/* Posts a filled-in request. Boot hart. */
void observe_post(struct observe_request *request);

/* Is a vcpu being observed? Any hart: as it was a moment ago. */
bool vcpu_is_observed(const struct vcpu *vcpu);

/* Does what was posted for it. Home hart. */
void vcpu_serve_observers(struct vcpu *vcpu);

/* Its vPMU is about to be reset: nothing is counted from here on. Home hart. */
void vcpu_end_observers(struct vcpu *vcpu);

/* The resident vcpu's guest counts with instret from here on, which is HS's clock. */
void vcpu_observers_lose_clock(struct vcpu *vcpu);

/* Observer n of the resident vcpu made way for its guest. */
void vcpu_observer_taken(struct vcpu *vcpu, uint32_t n, uint64_t value);

#endif
