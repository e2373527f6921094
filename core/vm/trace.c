/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>

#include "arch/riscv/csr.h"
#include "core/vm/trace.h"

#define RING 128U

/* Written by its own hart. It has more entries than are shown, so that no hart overwrites an entry
 * that is being read. */
static struct ring {
	atomic_ulong count; /* entries written since boot */
	struct trace_entry entries[RING];
} rings[MAX_HARTS];

/* The true functions of each VM, each served by call() instead. Constant after boot. */
static struct vsbi_slot calls[VM_MAX_VMS][VSBI_SLOTS];

static void note(const struct vcpu *vcpu, uint64_t scause, uint64_t a, uint64_t b)
{
	struct ring *ring = &rings[vcpu->home->index];
	unsigned long n = atomic_load_explicit(&ring->count, memory_order_relaxed);

	ring->entries[n % RING] = (struct trace_entry){.time = csr_read(CSR_TIME),
	                                               .vcpu = vcpu,
	                                               .scause = scause,
	                                               .pc = csr_read(CSR_SEPC),
	                                               .value = {a, b}};
	atomic_store_explicit(&ring->count, n + 1, memory_order_release);
}

void trace_exit(const struct vcpu *vcpu, uint64_t scause)
{
	note(vcpu, scause, csr_read(CSR_STVAL), csr_read(CSR_HTVAL) << 2);
}

static VSBI_FN(call)
{
	const struct vcpu *vcpu = this_vcpu();

	note(vcpu, CAUSE_ECALL_VS, eid, fid);
	return vsbi_find(vcpu->vm->sbi, eid, fid)(a0, a1, a2, a3, a4, a5, fid, eid);
}

void trace_init(void)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		for (uint32_t n = 0; n < VSBI_SLOTS; n++) {
			calls[i][n].eid = vms[i].sbi[n].eid;
			for (uint32_t k = 0; k < VSBI_FUNCTIONS; k++)
				calls[i][n].fn[k] = call;
		}
	}
	trace_switch(NULL, false);
}

/* switch.S finds the table by this pointer on any hart. The table is complete before the pointer is
 * stored. */
static void trace_vcpu(struct vcpu *vcpu, bool on)
{
	const void *table = on ? calls[vcpu->vm->index] : vcpu->vm->sbi;

	atomic_store_explicit(&vcpu->traced, on, memory_order_relaxed);
	__atomic_store_n(&vcpu->ctx.calls, table, __ATOMIC_RELEASE);
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

/* Returns the newest entry of all harts that was not taken yet. NULL: there is none. */
static const struct trace_entry *newest(unsigned long left[MAX_HARTS])
{
	const struct trace_entry *best = NULL;
	uint32_t of = 0;

	for (uint32_t i = 0; i < n_pcpus; i++) {
		const struct trace_entry *e = &rings[i].entries[(left[i] - 1) % RING];

		if (left[i] && (!best || e->time > best->time)) {
			best = e;
			of = i;
		}
	}
	if (best)
		left[of]--;
	return best;
}

uint32_t trace_newest(struct trace_entry entries[TRACE_SHOWN])
{
	unsigned long left[MAX_HARTS];
	const struct trace_entry *e;
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_pcpus; i++)
		left[i] = atomic_load_explicit(&rings[i].count, memory_order_acquire);
	for (; n < TRACE_SHOWN && (e = newest(left)); n++)
		entries[n] = *e;
	return n;
}
