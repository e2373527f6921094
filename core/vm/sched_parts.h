/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the scheduler need of each other: sched.c (turns), sched_ready.c (who wants
 * them), sched_time.c and sched_mail.c. For them only. */
#ifndef CORE_VM_SCHED_PARTS_H
#define CORE_VM_SCHED_PARTS_H

#include "arch/riscv/csr.h"
#include "arch/riscv/sbi.h"
#include "core/vm/platform.h"
#include "core/vm/sched.h"
#include "core/vm/vcpu.h"

static inline void sched_set_host_timer(const struct pcpu *pcpu, uint64_t deadline)
{
	if (pcpu->vs_has.sstc)
		csr_write(CSR_STIMECMP, deadline);
	else
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, deadline, 0, 0, 0, 0);
}

/* The next thing that happens on the hart by itself. resident: pcpu->current. */
static inline void sched_set_timer(struct pcpu *pcpu, const struct vcpu *resident)
{
	uint64_t deadline = wake_times_earliest(&pcpu->wake);
	uint64_t others = resident ? pcpu->ready & ~resident->bit : pcpu->ready;
	uint64_t turn_end = pcpu->slice_end;

	if (pcpu->external_at < deadline)
		deadline = pcpu->external_at;
	if (!others && resident && !resident->suspect)
		turn_end += pcpu->alone;
	if ((others || resident) && turn_end < deadline)
		deadline = turn_end;
	/* Nobody wants to be woken. An emulator whose clock leaps to the next timer finds none, or
	 * one of its own again and again, and hears nobody meanwhile. */
	if (!resident && deadline == ~0UL && n_pcpus == 1)
		deadline = csr_read(CSR_TIME) + platform.timebase;
	/* Without Sstc the resident guest's own timer is ours to watch, too. */
	if (resident && !pcpu->vs_has.sstc && resident->timer < deadline)
		deadline = resident->timer;
	sched_set_host_timer(pcpu, deadline);
}

/*
 * Steal time begins where a vcpu wants to run and another one is resident; load() ends it. A hart
 * that idles, or is on its way to the one vcpu that wants it, steals from nobody: those that became
 * ready then are `unrobbed` until somebody is loaded.
 */
static inline void sched_waits_its_turn(struct vcpu *vcpu, uint64_t now)
{
	if (!vcpu->fw.ready_since)
		vcpu->fw.ready_since = now;
}

/* The resident vcpu has its hart back. What was taken is added to its turn, and its robber's VM
 * owes it. */
void sched_give_back(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now);

/* A turn that begins is so much shorter as its VM owes, but half a turn remains. */
void sched_pay(struct pcpu *pcpu, struct vm *vm);

#endif
