/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/hart_flags.h"
#include "core/vsbi/vsbi.h"

VSBI_FN(vsbi_pmu_hart_flags)
{
	struct vcpu *vcpu = this_vcpu();
	vsbi_ret ret;

	hart_flags_call(vcpu);
	ret = vsbi_pmu.fn[fid](a0, a1, a2, a3, a4, a5, fid, eid);
	hart_flags_show(vcpu);
	return ret;
}
