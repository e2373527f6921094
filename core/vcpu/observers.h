/* SPDX-License-Identifier: Apache-2.0 */
/* Part of struct vcpu: core/watch/observe.h. */
#ifndef CORE_VCPU_OBSERVERS_H
#define CORE_VCPU_OBSERVERS_H

#include "core/lib/types.h"
#include "vpmu/observe.h"

struct account;

/* The event to count, in the terms of the SBI PMU extension. */
struct observed_event {
	uint32_t event_idx;
	uint32_t flags; /* SBI_PMU_CFG_FLAG_SET_UINH, SBI_PMU_CFG_FLAG_SET_SINH */
	uint64_t data;
	/* How many of these events there are from one sample to the next, the first of them only if
	 * hz is not 0: then so many samples are wanted in a second of the vcpu's time on its hart.
	 * 0: it is counted only. */
	uint64_t period;
	uint32_t hz;
	uint16_t depth; /* of the chain of callers that a sample has at most */
	bool account; /* of hs-instructions: also which exits they went to (core/watch/account.h) */
};

/* A shorter one would leave the guest hardly any time. */
#define OBSERVE_LEAST_PERIOD 100U

struct observer {
	uint32_t number; /* of the observation that it is part of; 0: free */
	/* At the last read, the guest counted the same event on the same counter. */
	bool shared;
	/* Why it has ended or has never begun. NULL: it counts. */
	const char *ended;
	struct observed_event event;
	uint64_t value; /* count when it ended or was last read */
	uint64_t until; /* host time of `value` */
	uint64_t since; /* host time when it began */
	uint64_t base;  /* firmware events: the total at `since` */
	/* Samples so far (core/watch/samples.h), those of them for which there was no room, and
	 * periods that were over before the sample of the last one was taken. */
	uint64_t samples, lost, late;
	/* With a rate: host time from one sample to the next, and how long the vcpu had been
	 * resident at the last one. */
	uint64_t every, sampled_at;
};

/* Part of struct vcpu. Private to the home hart. */
struct vcpu_observers {
	struct observer observer[VPMU_OBSERVERS];
	uint32_t n;      /* number of observers in use */
	uint32_t chains; /* those of them that sample with callers */
	/* Of the one that has an account; NULL: none has. Atomic, for account_of(). */
	struct account *account;
	/* Copies of the observers that the last request concerned, taken when it was done. An entry
	 * with number 0 is unused. The client may read them while no request is posted for the
	 * vcpu. */
	struct observer told[VPMU_OBSERVERS];
	uint64_t told_at; /* host time of the copies */
};

#endif
