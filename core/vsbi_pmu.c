/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 11: registers into calls of vpmu/, no PMU logic. */
#include "core/vm.h"
#include "core/vsbi.h"

static struct vpmu_ret call(struct vpmu *pmu, uint64_t fid, const uint64_t *a)
{
	switch (fid) {
	case SBI_PMU_NUM_COUNTERS:
		return vpmu_num_counters(pmu);
	case SBI_PMU_COUNTER_GET_INFO:
		return vpmu_counter_get_info(pmu, a[0]);
	case SBI_PMU_COUNTER_CONFIG_MATCHING:
		return vpmu_counter_config_matching(pmu, a[0], a[1], a[2], a[3], a[4]);
	case SBI_PMU_COUNTER_START:
		return vpmu_counter_start(pmu, a[0], a[1], a[2], a[3]);
	case SBI_PMU_COUNTER_STOP:
		return vpmu_counter_stop(pmu, a[0], a[1], a[2]);
	case SBI_PMU_COUNTER_FW_READ:
		return vpmu_counter_fw_read(pmu, a[0]);
	case SBI_PMU_COUNTER_FW_READ_HI:
		return vpmu_counter_fw_read_hi(pmu, a[0]);
	default:
		return (struct vpmu_ret){SBI_ERR_NOT_SUPPORTED, 0};
	}
}

struct sbi_ret vsbi_pmu(struct vcpu *vcpu, uint64_t fid, const uint64_t *args)
{
	struct vpmu_ret ret = call(&vcpu->pmu, fid, args);

	if (fid >= SBI_PMU_COUNTER_CONFIG_MATCHING && fid <= SBI_PMU_COUNTER_STOP)
		vcpu_update_wfi(vcpu);
	return (struct sbi_ret){ret.error, ret.value};
}
