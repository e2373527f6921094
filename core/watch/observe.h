/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of a vcpu that belong to the operator. Hardware events use observers of the vPMU
 * (vpmu/observe.h). Firmware events and Tally's own are counted as differences of totals. Observers
 * change nothing that the guest counts or that its SBI calls return.
 *
 * Only the vcpu's home hart does the work. The boot hart, which serves the operator, posts a
 * request and checks later whether it is done.
 *
 * One read of several vcpus has the counts of one moment, the same host time on all harts, to which
 * they set their timers. A hart that is in HS at that time, or sees the request after it, is late.
 * At the moment a hart reads only the vcpu that has it. It reads each other vcpu in a later stay,
 * before anything is counted for that vcpu.
 */
#ifndef CORE_WATCH_OBSERVE_H
#define CORE_WATCH_OBSERVE_H

#include <stdatomic.h>

#include "core/lib/types.h"
#include "core/vcpu/vcpu.h"
#include "vpmu/observe.h"

struct account;

/* The maximum for all vcpus of one hart together, so that reading them all is short. Only
 * moves of vcpus can exceed it. */
#define OBSERVERS_OF_HART 96U

/* The upper byte of an observation's number is the operator's client. */
#define OBSERVE_CLIENT_SHIFT 24U

enum observe_what {
	OBSERVE_BEGIN, /* on each vcpu when its home hart sees the request */
	OBSERVE_READ,  /* reads all vcpus at one moment */
	OBSERVE_ROWS,  /* reads one vcpu, and copies its account for account_told */
	OBSERVE_END,   /* on each vcpu, like OBSERVE_BEGIN; the values are not read */
	/* From here on no observers are involved: starts or stops recording the vcpu's stays in HS
	 * (core/watch/stays.h). */
	OBSERVE_STAYS,
	OBSERVE_NO_STAYS,
};

/* The request of the operator, who makes one at a time. */
struct observe_request {
	/* Indices of the vcpus that have not served the request yet. While the mask is not 0, the
	 * client must not touch the other fields (docs/memory-order.md, "Observers"). */
	atomic_ulong vcpus;
	enum observe_what what;
	uint32_t number; /* the observation to read or end; 0: all of the client's */
	/* The client that asks, as in its observations' numbers. 0 may read and end those of
	 * all. */
	uint32_t client;
	struct observed_event event;
	uint64_t at; /* host time at which to serve it */
};
extern struct observe_request observe_request;

/* Posts the request, whose number, client and event the caller has filled in, for these vcpus of
 * the machine. Only for the holder of the prompt (core/operator/prompt_server.h); any hart. */
void observe_post(enum observe_what what, uint64_t vcpus);

/* Returns the vcpus of the machine with observers whose VM is in the mask. Any hart; the result may
 * be outdated when it returns. */
uint64_t observe_vcpus(uint32_t of_vms);

/* Serves the request if it was posted for the vcpu, or sets the timer for it if its time has not
 * come. Home hart only. */
void vcpu_serve_observers(struct vcpu *vcpu);

/* Something is about to be counted for a vcpu that does not run: reads it first if the moment of a
 * read has come. Home hart only. */
void observe_finish(struct vcpu *vcpu);
static inline void observe_before(struct vcpu *vcpu)
{
	if (atomic_load_explicit(&observe_request.vcpus, memory_order_relaxed) & vcpu->bit)
		observe_finish(vcpu);
}

/* The vcpu has moved here, perhaps between a request and its time. Home hart only. */
void observe_arrive(struct vcpu *vcpu);

/* The time of a request has come. Called on the hart that has set its timer for it. */
void observe_poll(void);

/* The operations of requests. Home hart only. */
void observer_begin(struct vcpu *vcpu, uint32_t number, const struct observed_event *event);
/* Reads observer n. `now` is the current host time. */
void observer_read(struct vcpu *vcpu, uint32_t n, uint64_t now);
void observer_end(struct vcpu *vcpu, uint32_t n);

/* Takes the samples of periods that are over while their interrupt is still pending. Called before
 * a read. */
void vcpu_take_samples(struct vcpu *vcpu);

/* The vcpu and its observers have moved to this home hart, or are about to leave it. Home hart
 * only. */
void vcpu_observers_arrive(struct vcpu *vcpu);
void vcpu_observers_leave(struct vcpu *vcpu);

/* Ends all observers, because the vPMU is about to be reset. Home hart only. */
void vcpu_end_observers(struct vcpu *vcpu);

/* The guest of the resident vcpu takes over instret, with which HS measures its stays. Ends the
 * observers that depend on it. */
void vcpu_observers_lose_clock(struct vcpu *vcpu);

/* Observer n of the resident vcpu has lost its counter to the guest, at this value. */
void vcpu_observer_lost(struct vcpu *vcpu, uint32_t n, uint64_t value);

#endif
