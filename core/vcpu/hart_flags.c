/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/hart_flags.h"

#include "core/vcpu/hpm_failures.h"

void hart_flags_begin(struct vcpu *vcpu)
{
	struct hpm *hpm = &vcpu->home->hpm;

	if (!hpm->flags_hidden)
		hpm_show_flags(hpm);
}

/* Nothing hides the OF bits of counters that the guest does not use, so all bits must be right. */
static void show_all(struct vcpu *vcpu, struct hpm *hpm)
{
	uint64_t wrong = (csr_read(CSR_SCOUNTOVF) ^ hpm->shown) & hpm->hctrs;

	/* An armed counter may have wrapped just now. The vPMU hears of it when the LCOFI is
	 * taken. */
	wrong &= hpm->shown | ~vpmu_armed(&vcpu->pmu);
	if (wrong)
		hpm_set_flags(hpm, wrong, hpm->shown, vpmu_active(&vcpu->pmu));
}

/* From here on no fast path leads to the guest. */
static void due(struct vcpu *vcpu)
{
	vcpu->flags_due = true;
	hart_flags_begin_slices(vcpu);
	pcpu_resched(vcpu->home);
}

void hart_flags_show(struct vcpu *vcpu, bool make)
{
	struct hpm *hpm = &vcpu->home->hpm;
	bool closed;

	hpm->shown = vpmu_scountovf(&vcpu->pmu);
	if (!hpm->flags_hidden) {
		show_all(vcpu, hpm);
		return;
	}
	if (!vpmu_show_flags(&vcpu->pmu, make, &closed)) {
		due(vcpu);
		return;
	}
	/* The call that is being served may go on, and change more. */
	vcpu->flags_due = vcpu->call.slice && vcpu->call.slice != hart_flags_slice;
	vcpu->flags_in_calls = hpm->shown || closed;
}

bool hart_flags_slice(struct vcpu *vcpu)
{
	/* Before an OF is made, because that reads a counter that should run. */
	hpm_failures_settle(vcpu);
	if (pcpu_may_begin(vcpu->home))
		hart_flags_show(vcpu, true);
	hpm_failures_settle(vcpu);
	return vcpu->flags_due;
}

void hart_flags_show_all(struct vcpu *vcpu)
{
	do {
		hpm_failures_settle(vcpu);
		hart_flags_show(vcpu, true);
	} while (vcpu->flags_due && vcpu->home->hpm.flags_hidden);
	vcpu->call.slice = NULL;
}

void hart_flags_raised(struct vcpu *vcpu)
{
	struct hpm *hpm = &vcpu->home->hpm;

	/* From here on the hart must keep it. */
	hpm->shown = vpmu_scountovf(&vcpu->pmu);
	vcpu->flags_in_calls = true;
	if (!(hpm->shown & hpm->hctrs & ~(csr_read(CSR_SCOUNTOVF) & csr_read(CSR_HCOUNTEREN))))
		return;
	due(vcpu);
}
