/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What others ask of a vcpu, and when its home hart wants to hear of it.
 *
 * A request is a bit in `asked`: one that is there already is not asked again, and interrupts
 * nobody again. `heeded` says which requests concern the home now. While the vcpu is resident all
 * do. While it is not, its hart belongs to somebody else: then only those do that have to wake it
 * up, and the others wait until its turn comes.
 *
 * None is lost: who asks writes `asked` and then reads `heeded`; the home, where it heeds more than
 * before, writes `heeded` and then reads `asked`. Each does so with a full fence in between, so
 * that one of them sees what the other wrote.
 */
#ifndef CORE_VM_REQUESTS_H
#define CORE_VM_REQUESTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define REQ_IPI     (UINT64_C(1) << 0) /* set VSSIP */
#define REQ_DEVICES (UINT64_C(1) << 1) /* VSEIP as the VM's PLIC says */
#define REQ_FENCE_I (UINT64_C(1) << 2)
#define REQ_VVMA    (UINT64_C(1) << 3)
#define REQ_START   (UINT64_C(1) << 4) /* HSM start: start_pc, start_opaque */
#define REQ_STOP    (UINT64_C(1) << 5) /* the VM ends */
/* The operator's, or once in a life of the VM. */
#define REQ_LIFE                                                                                   \
	(UINT64_C(1) << 6) /* of vcpu 0: its VM has something to decide, core/vm/vm_life.h */
#define REQ_OBSERVE (UINT64_C(1) << 7) /* something was posted for it, core/vm/observe.h */
#define REQ_MOVE    (UINT64_C(1) << 8) /* it has a goal, core/vm/vcpu_move.h */
#define REQ_ARRIVE  (UINT64_C(1) << 9) /* from its old home: it is yours now */

#define REQ_ALL    ((UINT64_C(1) << 10) - 1)
#define REQ_FENCES (REQ_FENCE_I | REQ_VVMA)
/* Served at once wherever the vcpu is, so always heeded. */
#define REQ_AT_ONCE (REQ_LIFE | REQ_OBSERVE | REQ_MOVE | REQ_ARRIVE)

/* Requests that the guest counts where they arrive: each one, those asked together, too. */
enum { REQ_GOT_IPI, REQ_GOT_FENCE_I, REQ_GOT_VVMA, REQ_GOT_VVMA_ASID, REQ_COUNTED };

struct requests {
	atomic_ulong asked;  /* any hart sets bits, the home takes them */
	atomic_ulong heeded; /* written by the home */
	/* Any hart adds one, then asks; the home takes them with the request. */
	atomic_uint got[REQ_COUNTED];
};

/* Of a vcpu that is off. */
static inline void requests_init(struct requests *r)
{
	*r = (struct requests){0};
	atomic_init(&r->heeded, REQ_AT_ONCE | REQ_START | REQ_STOP);
}

/* Asks. true: the home has to be notified. Any hart. */
static inline bool requests_ask(struct requests *r, uint64_t what)
{
	uint64_t before = atomic_fetch_or(&r->asked, what);

	atomic_thread_fence(memory_order_seq_cst);
	return what & ~before & atomic_load_explicit(&r->heeded, memory_order_relaxed);
}

/*
 * Has one that asked for these to wait? Not if they have been taken, nor while the vcpu is not
 * resident: then they are taken before its next instruction. Either way all that the vcpu did
 * before is done. Any hart.
 */
static inline bool requests_awaited(struct requests *r, uint64_t what)
{
	return atomic_load_explicit(&r->asked, memory_order_acquire) & what &&
	       atomic_load_explicit(&r->heeded, memory_order_acquire) & what;
}

/* From here on these are heeded; those of them that have been asked already. Home hart. */
static inline uint64_t requests_heed(struct requests *r, uint64_t what)
{
	atomic_store_explicit(&r->heeded, what, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&r->asked, memory_order_relaxed) & what;
}

/* The vcpu has left the hart: whoever sees this sees all that it did. Home hart. */
static inline void requests_unheed(struct requests *r)
{
	atomic_store_explicit(&r->heeded, REQ_AT_ONCE, memory_order_release);
}

/* Those of them that have been asked, which are to be served now. Home hart. */
static inline uint64_t requests_take(struct requests *r, uint64_t what)
{
	/* Nearly always there are none; the atomic operation is left out then. */
	if (!(atomic_load_explicit(&r->asked, memory_order_relaxed) & what))
		return 0;
	return atomic_fetch_and(&r->asked, ~what) & what;
}

/* How many of a kind have come since it was asked last. Home hart. */
static inline uint32_t requests_got(struct requests *r, uint32_t kind)
{
	return atomic_exchange(&r->got[kind], 0);
}

#endif
