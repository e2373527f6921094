/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/gstage.h"
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/isa_trial.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/sbi.h"
#include "arch/riscv/hart/vs_state.h"
#include "core/hart/check.h"
#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/io/external.h"
#include "core/panic.h"
#include "core/sched/sched.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/trap_loop.h"
#include "core/vcpu/vcpu_registers.h"

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

void pcpu_notify(struct pcpu *pcpu, uint64_t vcpus)
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

/* Measures how far `cycle` advances per tick of host time. It bounds all events, because no event
 * counts more than once a cycle here. */
static uint64_t counts_a_tick(void)
{
	const uint64_t ticks = 100;
	uint64_t start = csr_read(CSR_TIME);
	uint64_t now, from, counts;

	do
		now = csr_read(CSR_TIME);
	while (now == start);
	from = csr_read(CSR_CYCLE);
	start = now;
	do
		now = csr_read(CSR_TIME);
	while (now < start + ticks);
	counts = csr_read(CSR_CYCLE) - from;
	return counts < ticks ? 1 : (counts + ticks / 2) / ticks;
}

/* A hart without one gets no interrupts of devices. The boot hart serves the UART, so without its
 * own the machine has none. */
static void probe_imsic(struct pcpu *pcpu)
{
	pcpu->no_imsic = platform.irqchip.kind == IRQCHIP_IMSIC && !isa_has_imsic();
	if (pcpu->no_imsic && !pcpu->index)
		platform.irqchip.kind = IRQCHIP_NONE;
}

const char *pcpu_init(uint64_t hartid, uint32_t index, uint64_t isa)
{
	struct pcpu *pcpu = this_pcpu();

	pcpu->hartid = hartid;
	pcpu->index = index;
	pcpu->unfit = isa_kept();
	if (pcpu->unfit)
		return pcpu->unfit;
	isa = isa_tried(isa, &pcpu->blocks);
	pcpu->isa = isa;
	pcpu->unfit = "it has no H extension";
	if (!(isa & BIT(ISA_H)))
		return pcpu->unfit;
	pcpu->alone = platform.roam ? 0 : platform.timebase / TRAP_LOOP_LOOKS_HZ;
	pcpu->external_at = ~0UL;
	wake_times_init(&pcpu->wake);
	pcpu->vs_has.sstc = isa & BIT(ISA_SSTC);
	pcpu->vs_has.vsiselect = vs_state_probe_vsiselect();
	pcpu->vs_has.records = vs_state_probe_records();
	quirk_probe_wfi_pc();
	vs_state_init_hart(isa, platform.imsic.ids);
	pcpu->unfit = "its VSTIP always pends";
	if (!pcpu->vs_has.sstc && quirk_vs_timer_pends())
		return pcpu->unfit;
	pcpu->unfit = NULL;
	pcpu->ad_ungated = !quirk_probe_ad();
	hpm_init(&pcpu->hpm, isa & BIT(ISA_SSCOFPMF), platform.backend, platform.timebase,
	         platform.table);
	vs_delegate(true); /* again: that may have found quirks of faults */
	/* Needed to poll counters whose overflow raises no interrupt. */
	if (pcpu->hpm.fixed || pcpu->hpm.hs_lcofi)
		pcpu->counts_a_tick = counts_a_tick();
	pcpu->vmids = gstage_vmid_count();
	pcpu->vec_bytes = isa & BIT(ISA_V) ? vec_probe() : 0;
	pcpu->more_registers = pcpu->vec_bytes || pcpu->vs_has.records;
	fw_events_init(&pcpu->fw_events);
	/* LCOFI stays enabled while a guest runs, because a masked physical LCOFI would also mask
	 * the guest's virtual one (docs/platform.md). */
	csr_set(CSR_SIE, BIT(IRQ_SSI) | BIT(IRQ_STI));
	if (pcpu->hpm.hs_lcofi)
		csr_set(CSR_SIE, BIT(IRQ_LCOFI));
	probe_imsic(pcpu);
	external_init_hart(pcpu);
	guest_files_init(pcpu);
	return NULL;
}

void pcpu_count_vcpus(struct pcpu *pcpu, int32_t more)
{
	pcpu->n_vcpus += (uint32_t)more;
	pcpu->shared = pcpu->n_vcpus > 1 && !platform.roam && !pcpu->scheduled;
}

bool pcpu_begins_late(struct pcpu *pcpu)
{
	if (pcpu->worked == PUT_OFF)
		return false;
	/* Where instret counts wrong it does not tell how long a stay is. */
	if (!pcpu->hpm.inexact.where && ++pcpu->refused < PCPU_PATIENCE)
		return false;
	pcpu->refused = 0;
	return true;
}

void pcpu_account_stay(struct pcpu *pcpu)
{
	struct vcpu *vcpu = pcpu->stay_of;
	uint64_t now = csr_read(CSR_INSTRET);
	uint64_t stay = now - pcpu->stay_start;

	pcpu->stay_start = now;
	if (!vcpu)
		return;
	CHECK(vcpu_home(vcpu) == pcpu);
	vcpu->ctx.hs_insns[pcpu->stay_why] += stay;
	if (__builtin_expect(stay > vcpu->ctx.hs_longest, 0))
		stay_longest(&vcpu->ctx, pcpu->stay_why, stay);
}

void pcpu_account_to(struct pcpu *pcpu, struct vcpu *vcpu, enum vcpu_exit why)
{
	if (pcpu->stay_of != vcpu || pcpu->stay_why != why)
		pcpu_account_stay(pcpu);
	pcpu->stay_of = vcpu;
	pcpu->stay_why = why;
}

void pcpu_interrupts(struct pcpu *pcpu, uint64_t pending)
{
	/* With no vcpu resident, the LCOFI belongs to nobody. Otherwise the hart takes it as soon
	 * as the guest goes on. */
	if (pending & BIT(IRQ_LCOFI) && !pcpu->current)
		csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
	if (pending & BIT(IRQ_SSI)) {
		pcpu_ack_ipi();
		pcpu_resched(pcpu);
	}
	if (pending & BIT(IRQ_SEI))
		external_came();
	if (pending & BIT(IRQ_SGEI))
		guest_file_came();
	if (pending & BIT(IRQ_STI))
		sched_timer();
}
