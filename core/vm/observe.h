/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of a vcpu for who is not its guest: hardware events by observers of its vPMU
 * (vpmu/observe.h), firmware events and Tally's own by differences. Nothing that the guest counts
 * or is answered changes by it.
 *
 * All of it is done by the vcpu's home hart. The boot hart, which serves the operator, posts what
 * it wants and looks again later whether it is done.
 *
 * A look is one moment for all vcpus that it is of: each hart does it in one stay in HS, for all of
 * its vcpus, so that no guest executes anything in between. Several harts wait for one tick of host
 * time. A hart that hears of it later is as late as that.
 */
#ifndef CORE_VM_OBSERVE_H
#define CORE_VM_OBSERVE_H

#include <stdatomic.h>

#include "core/lib/types.h"
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

/* Those who ask, each with one request at a time: 0 .. OBSERVE_ASKERS - 1. */
#define OBSERVE_ASKERS 2U

/* Embedded in its vcpu; private to the home hart. */
struct vcpu_observers {
	struct observer observer[VPMU_OBSERVERS];
	uint32_t n; /* that are not free */
	/* For each who asks, until he asks again: those whom his request was of, as they were when
	 * it was done. Another one: number 0. His, while nothing is posted for the vcpu. */
	struct observer told[OBSERVE_ASKERS][VPMU_OBSERVERS];
	uint64_t told_at[OBSERVE_ASKERS]; /* host time of that */
};

/* On the vcpus of one hart, so that a look at all of them is a short stay; more after a move only.
 */
#define OBSERVERS_OF_HART 96U

enum observe_what {
	OBSERVE_BEGIN, /* each vcpu when its home comes to it */
	OBSERVE_LOOK,  /* all of them at one moment */
	OBSERVE_END,   /* as the first. They are not looked at */
};

/* Something to be done for some vcpus. */
struct observe_request {
	/* By their index: for these it is not done. While there are any, nothing else is touched by
	 * the one who asks. */
	atomic_ulong vcpus;
	enum observe_what what;
	uint32_t number; /* to look at or to end: 0 is all */
	struct observed_event event;
	uint64_t at; /* of a look: its moment in host time */
};
extern struct observe_request observe_requests[OBSERVE_ASKERS];

/* Posts a request, filled in but for `vcpus` and `at`, for these vcpus of the machine. Boot hart.
 */
void observe_post(struct observe_request *request, uint64_t vcpus);

/* Is a vcpu being observed? Any hart: as it was a moment ago. */
bool vcpu_is_observed(const struct vcpu *vcpu);

/* Does what was posted for it, a look for all others of its hart, too. Home hart. */
void vcpu_serve_observers(struct vcpu *vcpu);

/* What such requests are made of. Home hart. */
void observer_begin(struct vcpu *vcpu, uint32_t number, const struct observed_event *event);
/* The value of observer n now, which is that time. */
void observer_look(struct vcpu *vcpu, uint32_t n, uint64_t now);
void observer_end(struct vcpu *vcpu, uint32_t n);

/* Its vPMU is about to be reset: nothing is counted from here on. Home hart. */
void vcpu_end_observers(struct vcpu *vcpu);

/* The resident vcpu's guest counts with instret from here on, which is HS's clock. */
void vcpu_observers_lose_clock(struct vcpu *vcpu);

/* Observer n of the resident vcpu made way for its guest. */
void vcpu_observer_taken(struct vcpu *vcpu, uint32_t n, uint64_t value);

#endif
