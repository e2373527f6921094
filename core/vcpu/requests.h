/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests to a vcpu, and which of them interrupt its home hart.
 *
 * A request is a bit in `pending`. Setting a bit that is already set has no effect and interrupts
 * no hart. `enabled` has the requests that interrupt the home hart at once. While the vcpu is
 * resident, these are all. While it is not, the hart runs another vcpu, so only requests that must
 * wake the vcpu are in `enabled`; the others wait for its next time slice.
 *
 * No request is lost. The hart that makes a request writes `pending` and then reads `enabled`. The
 * home hart, when it enables more requests, writes `enabled` and then reads `pending`. Both have a
 * full fence in between, so at least one sees the other's write (docs/memory-order.md, "Request").
 */
#ifndef CORE_VCPU_REQUESTS_H
#define CORE_VCPU_REQUESTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define REQ_IPI     (UINT64_C(1) << 0) /* set VSSIP */
#define REQ_DEVICES (UINT64_C(1) << 1) /* set VSEIP to the level of the VM's PLIC */
#define REQ_FENCE_I (UINT64_C(1) << 2)
#define REQ_VVMA    (UINT64_C(1) << 3)
#define REQ_START   (UINT64_C(1) << 4) /* HSM start: start_pc, start_opaque */
#define REQ_STOP    (UINT64_C(1) << 5) /* take the vcpu off its hart, because the VM ends */
/* Rare requests: made by the operator, or once in a life of the VM. */
#define REQ_LIFE    (UINT64_C(1) << 6)  /* to vcpu 0: its VM changes state, core/life/vm_life.h */
#define REQ_OBSERVE (UINT64_C(1) << 7)  /* an observe_request is posted: core/watch/observe.h */
#define REQ_MOVE    (UINT64_C(1) << 8)  /* `migrate_to` is set, see core/sched/vcpu_move.h */
#define REQ_ARRIVE  (UINT64_C(1) << 9)  /* from the old home to the new: the vcpu is yours now */
#define REQ_FAULTS  (UINT64_C(1) << 10) /* to vcpu 0: DMA faults, see core/io/dma.h */

#define REQ_OUTPUT (UINT64_C(1) << 11) /* the console has room for its VM's output again */

/* From its own hart: go on with call chains of samples, core/watch/samples.h. */
#define REQ_CHAINS (UINT64_C(1) << 12)

#define REQ_ALL    ((UINT64_C(1) << 13) - 1)
#define REQ_FENCES (REQ_FENCE_I | REQ_VVMA)
/* Requests that are served at once even if the vcpu is not resident. They are always in `enabled`.
 * Outside its windows REQ_OBSERVE alone is served at once (core/sched/windows.h). */
#define REQ_AT_ONCE                                                                                \
	(REQ_LIFE | REQ_OBSERVE | REQ_MOVE | REQ_ARRIVE | REQ_FAULTS | REQ_OUTPUT | REQ_CHAINS)

/* Requests that the guest can count as firmware events when they arrive. Each one counts, even if
 * several of a kind arrive together. */
enum { REQ_GOT_IPI, REQ_GOT_FENCE_I, REQ_GOT_VVMA, REQ_GOT_VVMA_ASID, REQ_COUNTED };

struct requests {
	atomic_ulong pending; /* any hart sets bits, the home hart clears them */
	atomic_ulong enabled; /* written by the home hart */
	/* Number of requests of each kind. Any hart increments it before it makes the request; the
	 * home hart takes the number with the request. */
	atomic_uint got[REQ_COUNTED];
};

/* Call it while the vcpu is off. */
static inline void requests_init(struct requests *r)
{
	*r = (struct requests){0};
	atomic_init(&r->enabled, REQ_AT_ONCE | REQ_START | REQ_STOP);
}

/* Makes requests. Returns true if the caller has to notify the home hart. Any hart may call it. */
static inline bool requests_make(struct requests *r, uint64_t what)
{
	uint64_t before = atomic_fetch_or(&r->pending, what);

	atomic_thread_fence(memory_order_seq_cst);
	return what & ~before & atomic_load_explicit(&r->enabled, memory_order_relaxed);
}

/*
 * Whether the hart that made these requests still has to wait for them. It need not if they were
 * taken, or if the vcpu is not resident, because then they are taken before the vcpu's next
 * instruction. If this returns false, the caller sees all earlier effects of the vcpu ("Remote
 * fence"). Any hart may call it.
 */
static inline bool requests_are_pending(struct requests *r, uint64_t what)
{
	return atomic_load_explicit(&r->pending, memory_order_acquire) & what &&
	       atomic_load_explicit(&r->enabled, memory_order_acquire) & what;
}

/* Makes `what` the enabled requests. Returns those of them that are already pending. Home hart
 * only. */
static inline uint64_t requests_enable(struct requests *r, uint64_t what)
{
	atomic_store_explicit(&r->enabled, what, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&r->pending, memory_order_relaxed) & what;
}

/* Called when the vcpu has left the hart. A hart that reads the new value sees all earlier effects
 * of the vcpu. Home hart only. */
static inline void requests_disable(struct requests *r)
{
	atomic_store_explicit(&r->enabled, REQ_AT_ONCE, memory_order_release);
}

/* Takes the pending requests among `what`, to serve them now. Home hart only. */
static inline uint64_t requests_take(struct requests *r, uint64_t what)
{
	/* Usually nothing is pending, and the atomic operation can be skipped. */
	if (!(atomic_load_explicit(&r->pending, memory_order_relaxed) & what))
		return 0;
	return atomic_fetch_and(&r->pending, ~what) & what;
}

/* Returns the number of requests of a kind since the last call. Home hart only. */
static inline uint32_t requests_take_count(struct requests *r, uint32_t kind)
{
	return atomic_exchange(&r->got[kind], 0);
}

struct vcpu;

/* Makes a request (REQ_*) and notifies the home. Any hart may call it. */
void vcpu_request(struct vcpu *vcpu, uint64_t what);

/* Makes a request whose arrival the guest can count (REQ_GOT_*). Any hart may call it. */
void vcpu_send(struct vcpu *vcpu, uint64_t what, uint32_t kind);

#endif
