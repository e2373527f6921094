/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "core/watch/trace.h"

#define RING   128U
#define A_STAY 8U /* entries copied in one stay */

/* Written by its own hart, while the boot hart reads (docs/memory-order.md, "Trace"). It has more
 * entries than are shown, so that few are overwritten meanwhile. */
static struct ring {
	atomic_ulong begun; /* entries since boot, with the one that is being written */
	atomic_ulong count; /* entries since boot that are complete */
	struct exit_record entries[RING];
} * rings; /* [n_pcpus] */

#define WORDS (sizeof(struct exit_record) / sizeof(uint64_t))
_Static_assert(sizeof(struct exit_record) % sizeof(uint64_t) == 0, "copied word by word");

/* Copies an entry that another hart may be writing. */
static void copy(struct exit_record *to, const struct exit_record *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	for (size_t i = 0; i < WORDS; i++)
		__atomic_store_n(&t[i], __atomic_load_n(&f[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

/* While a vcpu is traced, switch.S finds call() here for each function of an extension that any VM
 * is offered. Constant after boot. */
static struct vsbi_slot calls[VSBI_SLOTS];

void trace_exit(const struct exit_record *exit)
{
	struct ring *ring = &rings[exit->vcpu->home->index];
	unsigned long n = atomic_load_explicit(&ring->count, memory_order_relaxed);

	atomic_store_explicit(&ring->begun, n + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	copy(&ring->entries[n % RING], exit);
	atomic_store_explicit(&ring->count, n + 1, memory_order_release);
}

static VSBI_FN(call)
{
	const struct vcpu *vcpu = this_vcpu();
	vsbi_fn *fn = vsbi_find(vcpu->vm->sbi, eid, fid);
	struct exit_record exit;

	if (!fn) /* the extension is offered to other VMs only */
		return vsbi_not_supported(a0, a1, a2, a3, a4, a5, fid, eid);
	exit_record_make(&exit, vcpu);
	trace_exit(&exit);
	return fn(a0, a1, a2, a3, a4, a5, fid, eid);
}

void trace_init(void *(*alloc)(size_t size))
{
	rings = alloc(n_pcpus * sizeof(rings[0]));
	for (uint32_t n = 0; n < VSBI_SLOTS; n++) {
		for (uint32_t i = 0; i < n_vms; i++) {
			if (vms[i].sbi[n].eid)
				calls[n].eid = vms[i].sbi[n].eid;
		}
		for (uint32_t k = 0; k < VSBI_FUNCTIONS; k++)
			calls[n].fn[k] = call;
	}
	trace_switch(NULL, false);
}

/* switch.S finds the table by this pointer on any hart. Both tables are older than the vcpu's first
 * start, so no order is needed. */
static void trace_vcpu(struct vcpu *vcpu, bool on)
{
	const void *table = on ? calls : vcpu->vm->sbi;

	atomic_store_explicit(&vcpu->traced, on, memory_order_relaxed);
	__atomic_store_n(&vcpu->ctx.calls, table, __ATOMIC_RELAXED);
}

void trace_switch(const struct vm *vm, bool on)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		if (on && vm && vm != &vms[i])
			continue;
		for (uint32_t n = 0; n < vms[i].config->n_vcpus; n++)
			trace_vcpu(vms[i].vcpus[n], on);
	}
}

static const struct exit_record *entry_of(const struct ring *ring, unsigned long n)
{
	return &ring->entries[(n - 1) % RING];
}

/* Copies entry n of a ring, from 1 on. Returns false if its hart has begun to overwrite it. */
static bool take(struct ring *ring, unsigned long n, struct exit_record *entry)
{
	copy(entry, entry_of(ring, n));
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&ring->begun, memory_order_relaxed) - n < RING;
}

/* Copies the newest entry of all harts that was not copied yet. A hart that has overwritten its
 * next entry is skipped. Returns false if there is none. */
static bool newest(unsigned long left[MAX_HARTS], struct exit_record *entry)
{
	for (;;) {
		uint64_t best = 0;
		uint32_t of = MAX_HARTS;

		for (uint32_t i = 0; i < n_pcpus; i++) {
			const uint64_t *at = &entry_of(&rings[i], left[i])->time;
			uint64_t time = __atomic_load_n(at, __ATOMIC_RELAXED);

			if (left[i] && (of == MAX_HARTS || time > best)) {
				best = time;
				of = i;
			}
		}
		if (of == MAX_HARTS)
			return false;
		if (take(&rings[of], left[of], entry)) {
			left[of]--;
			return true;
		}
		left[of] = 0;
	}
}

bool trace_newest(struct exit_record exits[TRACE_SHOWN], uint32_t *n)
{
	/* Of the answer that is being made. */
	static unsigned long left[MAX_HARTS];

	for (uint32_t i = 0; i < n_pcpus && !*n; i++)
		left[i] = atomic_load_explicit(&rings[i].count, memory_order_acquire);
	for (uint32_t i = 0; i < A_STAY; i++) {
		if (*n == TRACE_SHOWN || !newest(left, &exits[*n]))
			return true;
		++*n;
	}
	return false;
}
