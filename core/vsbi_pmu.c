/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 11: registers into calls of vpmu/, no PMU logic. */
#include "core/vm.h"
#include "core/vsbi.h"

static inline struct sbi_ret result(struct vpmu_ret ret)
{
	return vsbi_result(ret.error, ret.value);
}

/* After a call that may have started or stopped a counter of cycles. */
static inline struct sbi_ret settled(struct vcpu *vcpu, struct vpmu_ret ret)
{
	/* A hart with several vcpus traps WFI anyway. */
	if (vcpu->home->n_vcpus == 1)
		vcpu_update_wfi(vcpu);
	return result(ret);
}

static struct sbi_ret config_matching(struct vcpu *vcpu, uint64_t a0, uint64_t a1, uint64_t a2,
                                      uint64_t a3, uint64_t a4)
{
	struct vpmu_ret ret = vpmu_counter_config_matching(&vcpu->pmu, a0, a1, a2, a3, a4);

	if (ret.error == SBI_ERR_NOT_SUPPORTED)
		vcpu->fw.refusals++;
	return settled(vcpu, ret);
}

static struct sbi_ret event_get_info(struct vcpu *vcpu, uint64_t a0, uint64_t a1, uint64_t a2,
                                     uint64_t a3)
{
	bool again = false;
	struct vpmu_ret ret = vpmu_event_get_info(&vcpu->pmu, a0, a1, a2, a3, &again);

	return again ? vsbi_again(a0, a1) : result(ret);
}

VSBI_FN(vsbi_pmu)
{
	struct vcpu *vcpu = this_vcpu();
	struct vpmu *pmu = &vcpu->pmu;

	switch (fid) {
	case SBI_PMU_NUM_COUNTERS:
		return result(vpmu_num_counters(pmu));
	case SBI_PMU_COUNTER_GET_INFO:
		return result(vpmu_counter_get_info(pmu, a0));
	case SBI_PMU_COUNTER_CONFIG_MATCHING:
		return config_matching(vcpu, a0, a1, a2, a3, a4);
	case SBI_PMU_COUNTER_START:
		return settled(vcpu, vpmu_counter_start(pmu, a0, a1, a2, a3));
	case SBI_PMU_COUNTER_STOP:
		return settled(vcpu, vpmu_counter_stop(pmu, a0, a1, a2));
	case SBI_PMU_COUNTER_FW_READ:
		return result(vpmu_counter_fw_read(pmu, a0));
	case SBI_PMU_COUNTER_FW_READ_HI:
		return result(vpmu_counter_fw_read_hi(pmu, a0));
	case SBI_PMU_SNAPSHOT_SET_SHMEM:
		return result(vpmu_snapshot_set_shmem(pmu, a0, a1, a2));
	case SBI_PMU_EVENT_GET_INFO:
		return event_get_info(vcpu, a0, a1, a2, a3);
	default:
		return vsbi_result(SBI_ERR_NOT_SUPPORTED, 0);
	}
}
