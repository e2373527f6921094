/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/hart_flags.h"

#include "core/vcpu/hpm_failures.h"

/* Here the guest also sees OF bits of counters that it does not use, so all bits must be right. */
static void show_all(struct vcpu *vcpu, struct hpm *hpm)
{
	uint64_t wrong = (csr_read(CSR_SCOUNTOVF) ^ hpm->shown) & hpm->hctrs;

	/* An armed counter may have wrapped just now. The LCOFI reports that to the vPMU. */
	wrong &= hpm->shown | ~vpmu_armed(&vcpu->pmu);
	if (wrong)
		hpm_set_flags(hpm, wrong, hpm->shown, vpmu_active(&vcpu->pmu));
}

/* The exit must take the slow path from here on. */
static void due(struct vcpu *vcpu)
{
	vcpu->flags_due = true;
	hart_flags_begin_slices(vcpu);
	pcpu_resched(vcpu->home);
}

void hart_flags_show(struct vcpu *vcpu, bool may_set)
{
	struct hpm *hpm = &vcpu->home->hpm;
	bool closed;

	hpm->shown = vpmu_scountovf(&vcpu->pmu);
	if (!hpm->flags_hidden) {
		show_all(vcpu, hpm);
		return;
	}
	if (!vpmu_show_flags(&vcpu->pmu, may_set, &closed)) {
		due(vcpu);
		return;
	}
	/* The call that is being served may have more slices, which change more bits. */
	vcpu->flags_due = vcpu->call.slice && vcpu->call.slice != hart_flags_slice;
	vcpu->flags_in_calls = hpm->shown || closed;
}

bool hart_flags_slice(struct vcpu *vcpu)
{
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

void hart_flags_handle_overflow(struct vcpu *vcpu)
{
	struct hpm *hpm = &vcpu->home->hpm;

	/* The hart must show the bit from here on. */
	hpm->shown = vpmu_scountovf(&vcpu->pmu);
	vcpu->flags_in_calls = true;
	if (!(hpm->shown & hpm->hctrs & ~(csr_read(CSR_SCOUNTOVF) & csr_read(CSR_HCOUNTEREN))))
		return;
	due(vcpu);
}
