/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/hart_flags.h"

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

void hart_flags_show(struct vcpu *vcpu)
{
	struct hpm *hpm = &vcpu->home->hpm;
	bool closed;

	hpm->shown = vpmu_scountovf(&vcpu->pmu);
	if (!hpm->flags_hidden) {
		show_all(vcpu, hpm);
		return;
	}
	closed = vpmu_show_flags(&vcpu->pmu);
	/* The call that is being served may go on, and change more. */
	vcpu->flags_due = vcpu->call.slice;
	vcpu->flags_in_calls = hpm->shown || closed;
}

void hart_flags_raised(struct vcpu *vcpu)
{
	struct hpm *hpm = &vcpu->home->hpm;

	/* From here on the hart must keep it. */
	hpm->shown = vpmu_scountovf(&vcpu->pmu);
	vcpu->flags_in_calls = true;
	if (!(hpm->shown & hpm->hctrs & ~(csr_read(CSR_SCOUNTOVF) & csr_read(CSR_HCOUNTEREN))))
		return;
	vcpu->flags_due = true;
	pcpu_resched(vcpu->home);
}
