/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/hart_flags.h"

#include "arch/riscv/csr.h"

void hart_flags_begin(struct vcpu *vcpu)
{
	hpm_show_flags(&vcpu->home->hpm);
}

void hart_flags_show(struct vcpu *vcpu)
{
	struct hpm *hpm = &vcpu->home->hpm;
	uint64_t flags = vpmu_scountovf(&vcpu->pmu);
	uint64_t wrong = (csr_read(CSR_SCOUNTOVF) ^ flags) & hpm->hctrs;

	/* An armed counter may have wrapped just now. The vPMU hears of it when the LCOFI is
	 * taken. */
	wrong &= flags | ~vpmu_armed(&vcpu->pmu);
	if (wrong)
		hpm_set_flags(hpm, wrong, flags, vpmu_active(&vcpu->pmu));
}
