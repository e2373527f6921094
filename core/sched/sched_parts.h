/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the scheduler: sched.c (time slices), sched_time.c (timers),
 * sched_notified.c (notifications) and sched_life_work.c (work on a VM's life).
 * Outside this room only core/boot/harts.c includes it: the boot hart sleeps until its timer. */
#ifndef CORE_SCHED_SCHED_PARTS_H
#define CORE_SCHED_SCHED_PARTS_H

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi.h"
#include "core/hart/platform.h"
#include "core/sched/sched.h"
#include "core/vcpu/vcpu.h"

static inline void sched_set_host_timer(const struct pcpu *pcpu, uint64_t deadline)
{
	if (pcpu->vs_features.sstc)
		csr_write(CSR_STIMECMP, deadline);
	else
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, deadline, 0, 0, 0, 0);
}

/* Returns the host time of the next event on this hart. `resident` is pcpu->current. */
static inline uint64_t sched_next_event(const struct pcpu *pcpu, const struct vcpu *resident)
{
	uint64_t deadline = wake_times_earliest(pcpu->wake);
	uint64_t others = resident ? pcpu->ready & ~resident->bit : pcpu->ready;
	uint64_t turn_end = pcpu->slice_end;

	if (pcpu->next_poll < deadline)
		deadline = pcpu->next_poll;
	if (!others && resident && !resident->trap_loop_suspect)
		turn_end += pcpu->slice_extra;
	if ((others || resident) && turn_end < deadline)
		deadline = turn_end;
	/* No vcpu is to be woken. Without a timer, an emulator whose clock jumps to the next one
	 * would not take input. */
	if (!resident && deadline == ~0UL && n_pcpus == 1)
		deadline = csr_read(CSR_TIME) + platform.timebase;
	/* Without Sstc, and in vs_aia.c, HS also provides the resident guest's timer. */
	if (resident && resident->timer < deadline)
		deadline = resident->timer;
	return deadline;
}

/* Sets the timer to it. */
static inline void sched_set_timer(struct pcpu *pcpu, const struct vcpu *resident)
{
	sched_set_host_timer(pcpu, sched_next_event(pcpu, resident));
}

/* Ends the steal time of the resident vcpu. Adds that time to its time slice, and to the debt of
 * the VM that the hart worked for. */
void sched_end_steal(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now);

/* Shortens the vcpu's new time slice by the debt of its VM, to no less than half. */
void sched_charge_debt(struct pcpu *pcpu, const struct vcpu *vcpu);

/* Spends a time slice on the next life of the vcpu's VM, and serves interrupts after each step. */
void sched_do_life_work(struct pcpu *pcpu, struct vcpu *vcpu);

#endif
