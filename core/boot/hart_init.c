/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/gstage.h"
#include "arch/riscv/hart/isa.h"
#include "arch/riscv/hart/isa_trial.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/vs_state.h"
#include "core/boot/steps.h"
#include "core/hart/platform.h"
#include "core/hart/roam.h"
#include "core/io/external.h"
#include "core/vcpu/guest_file.h"
#include "core/vcpu/trap_loop.h"
#include "core/vcpu/vcpu_registers.h"

/* Measures the number of cycles per tick of host time. Polls assume that no event happens more than
 * once a cycle, as on QEMU. On a hart where one does, polls come late. */
static uint64_t cycles_per_tick(void)
{
	const uint64_t ticks = 100;
	uint64_t start = csr_read(CSR_TIME);
	uint64_t now, from, counts;

	do /* WAITS */
		now = csr_read(CSR_TIME);
	while (now == start);
	from = csr_read(CSR_CYCLE);
	start = now;
	do /* WAITS */
		now = csr_read(CSR_TIME);
	while (now < start + ticks);
	counts = csr_read(CSR_CYCLE) - from;
	return counts < ticks ? 1 : (counts + ticks / 2) / ticks;
}

/* A hart without an IMSIC gets no device interrupts. The boot hart serves the UART, so if it has no
 * IMSIC, the machine uses no interrupt controller. */
static void probe_imsic(struct pcpu *pcpu)
{
	pcpu->no_imsic = platform.irqchip.kind == IRQCHIP_IMSIC && !isa_has_imsic();
	if (pcpu->no_imsic && !pcpu->index)
		platform.irqchip.kind = IRQCHIP_NONE;
}

const char *pcpu_init(struct pcpu *pcpu, uint64_t hartid, uint32_t index)
{
	const char *refusal = isa_refusal();
	uint64_t isa = pcpu->listed->isa;

	pcpu->hartid = hartid;
	pcpu->index = index;
	pcpu->blocks = pcpu->listed->blocks;
	if (!refusal)
		isa = isa_probe(isa, &pcpu->blocks);
	pcpu->isa = isa;
	if (refusal)
		return refusal;
	if (!(isa & BIT(ISA_H)))
		return "it has no H extension";
	pcpu->slice_extra = vcpus_roam ? 0 : platform.timebase / TRAP_LOOP_CHECK_HZ;
	pcpu->next_poll = ~0UL;
	wake_times_init(&pcpu->wake_times);
	pcpu->wake = &pcpu->wake_times;
	pcpu->present = ~0UL;
	pcpu->vs_features = vs_state_probe(isa);
	quirk_probe_wfi_pc();
	vs_state_init_hart(isa, platform.imsic.ids);
	if (!pcpu->vs_features.sstc && quirk_vs_timer_pends())
		return "its VSTIP always pends";
	pcpu->ad_ignores_gstage = !quirk_probe_ad();
	hpm_init(&pcpu->hpm, isa & BIT(ISA_SSCOFPMF), platform.backend, platform.timebase,
	         platform.table);
	/* Again, because hpm_init() may have found quirks that keep faults from delegation. */
	vs_delegate(true);
	/* The rate is needed to poll counters whose overflow raises no interrupt. */
	if (pcpu->hpm.fixed || pcpu->hpm.hs_lcofi)
		pcpu->cycles_per_tick = cycles_per_tick();
	pcpu->vmids = gstage_vmid_count();
	pcpu->vec_bytes = isa & BIT(ISA_V) ? vec_probe() : 0;
	pcpu->more_registers = pcpu->vec_bytes || pcpu->vs_features.ctr;
	fw_events_init(&pcpu->fw_events);
	/* LCOFI stays enabled while a guest runs, because a masked physical LCOFI would also mask
	 * the guest's virtual one (docs/platform-counters.md). */
	csr_set(CSR_SIE, BIT(IRQ_SSI) | BIT(IRQ_STI));
	if (pcpu->hpm.hs_lcofi)
		csr_set(CSR_SIE, BIT(IRQ_LCOFI));
	probe_imsic(pcpu);
	external_init_hart(pcpu);
	guest_files_init(pcpu);
	return NULL;
}
