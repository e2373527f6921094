/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/world_switch.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "core/hart/check.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/hpm_failures.h"
#include "core/vcpu/ledger.h"
#include "core/vcpu/vcpu_registers.h"
#include "core/vcpu/vm.h"
#include "core/vcpu/vs_interrupts.h"
#include "core/watch/stays.h"

/*
 * Two vcpus of one VM may use one ASID for two address spaces. Without VMIDs (all are 0) this is
 * true for any two vcpus, and for the G-stage as well. Then the translations of the last vcpu must
 * be fenced. The first vcpu under each VMID also needs a fence, because the boot hart made the
 * G-stage table without a fence on this hart.
 */
static void fence_if_strange(struct pcpu *pcpu, const struct vcpu *vcpu, const struct vm *vm)
{
	const void **last = &pcpu->last_of_vmid[vm->vmid];

	if (*last == vcpu)
		return;
	if (!*last || !vm->vmid)
		hfence_gvma_all();
	hfence_vvma_all();
	*last = vcpu;
}

/* Rare: M-mode's events are being counted, or the vcpu's stays are recorded. */
static __attribute__((noinline)) void load_hooks(struct vcpu *vcpu)
{
	vcpu_fw_load(vcpu, vcpu->stats.fw_watched);
	if (vcpu->stats.stays_traced)
		stays_load(vcpu);
}

static __attribute__((noinline)) void put_hooks(struct vcpu *vcpu)
{
	vcpu_fw_put(vcpu, vcpu->stats.fw_watched);
	if (vcpu->stats.stays_traced)
		stays_put(vcpu);
}

void vcpu_load(struct pcpu *pcpu, struct vcpu *vcpu)
{
	const struct vm *vm = vcpu->vm;
	const struct vs_state *vs = &vcpu->vs;

	CHECK(pcpu == this_pcpu() && vcpu->home == pcpu && !pcpu->current);
	pcpu->current = vcpu;
	vcpu_registers_load(pcpu, vcpu);
	reservation_end(&pcpu->scratch);
	/* vsatp is 0 here, and is loaded after hgatp and the fences. A hart may walk the tables at
	 * any time, in HS-mode too, and cache the result under the VMID in hgatp (privileged
	 * manual, "Virtual Supervisor Address Translation and Protection Register"). */
	csr_write(CSR_HGATP, vm->gstage.hgatp);
	fence_if_strange(pcpu, vcpu, vm);
	vs_state_keep(vs);
	vs_state_load(vs, &pcpu->vs_features);
	csr_write(CSR_HTIMEDELTA, vm->htimedelta);
	vs_interrupts_loaded(pcpu, vcpu);
	if (vcpu->stats.switch_hooks)
		load_hooks(vcpu);
	hart_flags_load(pcpu, vcpu);
	/* The hart may do more for it than enter its guest: serve requests, and long calls. */
	hpm_failures_settle_on(pcpu, vcpu);
	ledger_resident(LEDGER_COMES, vcpu);
}

void vcpu_put(struct pcpu *pcpu, struct vcpu *vcpu)
{
	CHECK(pcpu == this_pcpu() && vcpu->home == pcpu && vcpu_is_current(vcpu));
	ledger_resident(LEDGER_GOES, vcpu);
	/* Counters come first: their overflows must be found while they belong to this vcpu. Those
	 * whose start was refused in this stay are not read, or a wrong count would be kept. */
	hpm_failures_settle_on(pcpu, vcpu);
	vpmu_save(&vcpu->pmu);
	hpm_failures_settle_on(pcpu, vcpu);
	if (vcpu->stats.switch_hooks)
		put_hooks(vcpu);
	if (pcpu->unmask_traps && vcpu->guest_file)
		vs_interrupts_put_aia(pcpu, vcpu);
	vs_state_put(&vcpu->vs, &pcpu->vs_features);
	/* From here on the hart must not walk the vcpu's tables, which may be cleared or belong to
	 * another vcpu under this VMID. hgatp may stay: its table is constant after boot and not in
	 * guest memory. */
	csr_write(CSR_VSATP, 0);
	pcpu->current = NULL;
	requests_disable(&vcpu->requests);
}
