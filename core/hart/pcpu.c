/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi.h"
#include "core/hart/pcpu.h"
#include "core/hart/roam.h"
#include "core/panic.h"

union hart_stack hart_stacks[MAX_HARTS]
    __attribute__((aligned(HART_STACK_SIZE), section(".bss..stacks")));
uint32_t n_pcpus;

struct pcpu *pcpu_of_hart(uint64_t hartid)
{
	for (uint32_t i = 0; i < n_pcpus; i++) {
		if (hart_stacks[i].pcpu.hartid == hartid)
			return &hart_stacks[i].pcpu;
	}
	return NULL;
}

/* Panics if the firmware keeps refusing, because the other hart would never see its requests. */
static void send_ipi(uint64_t hartid)
{
	long error = 0;

	for (int i = 0; i < 8; i++) {
		error = sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, hartid, 0, 0, 0).error;
		if (error == SBI_SUCCESS)
			return;
	}
	platform_lacks("the firmware sends no IPI to hart %lu: error %ld", hartid, error);
}

/* Returns whether the vcpu is outside its windows. Its hart then looks at `parked` when it comes
 * (docs/memory-order.md, "Mail"). */
static bool park(struct pcpu *pcpu, uint64_t vcpu)
{
	if (pcpu_present(pcpu) & vcpu)
		return false;
	atomic_fetch_or(&pcpu->parked, vcpu);
	atomic_thread_fence(memory_order_seq_cst);
	return !(pcpu_present(pcpu) & vcpu);
}

void pcpu_notify(struct pcpu *pcpu, uint64_t vcpu)
{
	if (!pcpu->has_schedule || !park(pcpu, vcpu))
		pcpu_interrupt(pcpu, vcpu);
}

void pcpu_interrupt(struct pcpu *pcpu, uint64_t vcpus)
{
	atomic_fetch_or(&pcpu->notified, vcpus);
	if (pcpu == this_pcpu()) {
		pcpu_resched(pcpu); /* makes an SBI call leave the fast path */
		/* This stay may serve no requests any more. */
		csr_set(CSR_SIP, BIT(IRQ_SSI));
		return;
	}
	/* The firmware sends an IPI by writing a device register (docs/memory-order.md, "Mail"). */
	fence_memory_then_output();
	send_ipi(pcpu->hartid);
}

void pcpu_add_vcpus(struct pcpu *pcpu, int32_t more)
{
	pcpu->n_vcpus += (uint32_t)more;
	pcpu->time_shared = pcpu->n_vcpus > 1 && !vcpus_roam && !pcpu->has_schedule;
}

bool pcpu_may_begin_late(struct pcpu *pcpu)
{
	if (pcpu->stay_work == STAY_SWITCH_POSTPONED)
		return false;
	/* If instret counts wrong, it does not show the length of a stay. */
	if (!pcpu->hpm.inexact.where && ++pcpu->begin_refusals < PCPU_PATIENCE)
		return false;
	pcpu->begin_refusals = 0;
	return true;
}
