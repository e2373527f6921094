/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of struct vcpu: core/watch/observe.h, and core/watch/stays.h. */
#ifndef CORE_VCPU_OBSERVERS_H
#define CORE_VCPU_OBSERVERS_H

#include "core/lib/types.h"
#include "vpmu/observe.h"

struct account;
struct sample_ring;
struct vm;

/* The event to count, in the terms of the SBI PMU extension. */
struct observed_event {
	uint32_t event_idx;
	uint32_t flags; /* SBI_PMU_CFG_FLAG_SET_UINH, SBI_PMU_CFG_FLAG_SET_SINH */
	uint64_t data;
	/* Number of events from one sample to the next. If hz is not 0, it is only the first such
	 * number, and is adapted to hz samples per second of the vcpu's time on its hart. 0: no
	 * samples, only a count. */
	uint64_t period;
	uint32_t hz;
	uint16_t depth; /* maximum length of the call chain of a sample */
	bool account; /* hs-instructions only: also account them to exits (core/watch/account.h) */
};

/* With a shorter period the guest would hardly run. */
#define OBSERVE_LEAST_PERIOD 100U

struct observer {
	uint32_t number; /* number of its observation; 0: free */
	/* Whether, at the last read, the guest counted the same event on the same counter. */
	bool shared;
	bool too_many; /* it takes no more samples: its rings had as many as they may */
	/* Why it has ended or has never begun; NULL: it counts. */
	const char *ended;
	struct observed_event event;
	uint64_t value; /* count when it ended or was last read */
	uint64_t until; /* host time of `value` */
	uint64_t since; /* host time when it began */
	uint64_t base;  /* firmware events: the total at `since` */
	/* Samples so far (core/watch/samples.h); those that were lost for lack of room; and missed
	 * periods: several had ended when the sample was taken. */
	uint64_t samples, lost, late;
	/* If hz is not 0: host time from one sample to the next, and the vcpu's resident time at
	 * the last sample. */
	uint64_t every, sampled_at;
	struct sample_ring *rings; /* of its client, one for each hart (core/watch/samples.h) */
};

#define UNWIND_MOST 64U

/* A guest's address space, and the page that was translated last. */
struct guest_view {
	const struct vm *vm;
	uint64_t satp;
	uint32_t bits; /* number of address bits that are translated; 64: no translation */
	bool user;
	uint64_t needs; /* PTE_R or PTE_X or both, required in the leaf */
	uint32_t walks; /* page walks that are left */
	uint64_t page;
	const char *host; /* that page; NULL: none */
};

/* A call chain that is being found (core/vcpu/unwind.h). It needs nothing of the hart. */
struct unwind {
	struct guest_view view;
	uint64_t fp;
	uint64_t n; /* return addresses found so far */
	bool ended,
	    cut; /* there are no more; because of a word that cannot be an address of code */
	uint64_t chain[UNWIND_MOST];
};

#define SAMPLE_WORDS 6U /* of a sample without callers: core/watch/samples.h */

/* Samples with callers that are not in a ring yet (core/watch/samples.c). All were taken since the
 * guest's last instruction, so they share a call chain. */
struct vcpu_chain {
	uint64_t due;  /* mask of the observers with such a sample */
	uint64_t most; /* callers that one of them wants */
	uint64_t samples[VPMU_OBSERVERS][SAMPLE_WORDS];
	struct unwind unwind;
};

/* Part of struct vcpu. Private to the home hart. */
struct vcpu_observers {
	struct observer observer[VPMU_OBSERVERS];
	uint32_t n;      /* observers in use. Any hart may read it */
	uint32_t chains; /* observers that sample call chains */
	/* The account of the observer that has one; NULL: none has. Atomic, for account_of(). */
	struct account *account;
	/* Copies of the observers of the last request, taken when it was done. An entry with number
	 * 0 is unused. The client may read them while no request is posted for the vcpu. */
	struct observer copies[VPMU_OBSERVERS];
	uint64_t read_at; /* host time at which a request last read them */
	uint64_t due_at;  /* host time at which a request was last due */
	struct vcpu_chain chain;
};

/* For core/watch/stays.h. Private to the home hart, except `longest`, which other harts read. */
struct vcpu_stays {
	uint64_t longest; /* stands for ctx.hs_longest while that is 0 */
	uint64_t hvip;    /* value when the vcpu left the hart */
	uint32_t users;   /* users of the records: STAYS_FOR_* */
};
enum { STAYS_FOR_TRACE = 1, STAYS_FOR_ACCOUNT = 2 };

#endif
