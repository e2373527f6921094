/* SPDX-License-Identifier: Apache-2.0 */
/* PMU calls of guests that read the hart's scountovf (core/vcpu/hart_flags.h). */
#include "core/vcpu/hart_flags.h"
#include "core/vsbi/vsbi.h"

/* Takes and returns the result of a call, so that the callers need not save it. */
static __attribute__((noinline)) vsbi_ret show(vsbi_ret ret)
{
	hart_flags_show(this_vcpu(), false);
	return ret;
}

VSBI_FN(vsbi_pmu_hart_flags)
{
	return show(vsbi_pmu.fn[fid](a0, a1, a2, a3, a4, a5, fid, eid));
}

VSBI_FN(vsbi_pmu_config_shown)
{
	vsbi_ret ret =
	    vsbi_pmu.fn[SBI_PMU_COUNTER_CONFIG_MATCHING](a0, a1, a2, a3, a4, a5, fid, eid);

	return hart_flags_show_if_clear(this_vcpu()) ? ret : show(ret);
}

VSBI_FN(vsbi_pmu_start_shown)
{
	vsbi_ret ret = vsbi_pmu.fn[SBI_PMU_COUNTER_START](a0, a1, a2, a3, a4, a5, fid, eid);

	return this_vcpu()->flags_in_calls ? show(ret) : ret;
}

/* RESET clears OF, so it is shown again. */
VSBI_FN(vsbi_pmu_stop_shown)
{
	vsbi_ret ret = vsbi_pmu.fn[SBI_PMU_COUNTER_STOP](a0, a1, a2, a3, a4, a5, fid, eid);

	return this_vcpu()->flags_in_calls ? show(ret) : ret;
}
