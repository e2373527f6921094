/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm/hart_flags.h"
#include "core/vsbi/vsbi.h"

/* PMU calls of a guest that reads the hart's own scountovf. */
VSBI_FN(vsbi_pmu_hart_flags)
{
	vsbi_ret ret = vsbi_pmu(a0, a1, a2, a3, a4, a5, fid, eid);

	hart_flags_show(this_vcpu());
	return ret;
}
