/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 11 (PMU): turns registers into calls of vpmu/. There is no PMU logic here. */
#include "core/vcpu/hpm_failures.h"
#include "core/vcpu/long_call.h"
#include "core/vcpu/vs_interrupts.h"
#include "core/vsbi/vsbi.h"

/* The vPMU of the calling vcpu. */
static inline struct vpmu *pmu(void)
{
	return &this_vcpu()->pmu;
}

static inline vsbi_ret pair(struct sbi_ret ret)
{
	return vsbi_result(ret.error, ret.value);
}

static VSBI_FN(num_counters)
{
	return pair(vpmu_num_counters(pmu()));
}

static VSBI_FN(get_info)
{
	return pair(vpmu_counter_get_info(pmu(), a0));
}

static __attribute__((cold, noinline)) bool config_ends(struct vcpu *vcpu, struct sbi_ret ret)
{
	if (ret.error == VPMU_AGAIN) {
		/* For counters that move, not for the one that the call is to start. */
		hpm_failures_settle(vcpu);
		return false;
	}
	if (ret.error == SBI_ERR_NOT_SUPPORTED)
		vcpu->stats.refusals++;
	return true;
}

/* Moves one more event, or ends the call. The guest's registers still hold the arguments. */
static __attribute__((cold)) bool more_config(struct vcpu *vcpu)
{
	uint64_t *a = &vcpu->ctx.x[REG_A0];
	struct sbi_ret ret = vpmu_config_movable(&vcpu->pmu, a[0], a[1], a[2], a[3], a[4]);

	if (!config_ends(vcpu, ret))
		return true;
	a[0] = (uint64_t)ret.error;
	a[1] = ret.value;
	hpm_failures_settle_exit(vcpu->home, vcpu, ~(uint64_t)EXIT_ECALL);
	return false;
}

/* Not inlined, so that a call that is granted needs fewer registers. */
static __attribute__((noinline)) vsbi_ret config_not_granted(long error)
{
	struct vcpu *vcpu = this_vcpu();

	if (config_ends(vcpu, (struct sbi_ret){.error = error}))
		return vsbi_result(error, 0);
	long_call_begin(vcpu, &(struct long_call){.slice = more_config});
	return vsbi_result((long)vcpu->ctx.x[REG_A0], vcpu->ctx.x[REG_A0 + 1]);
}

static VSBI_FN(config_matching)
{
	struct sbi_ret ret;

	vs_interrupts_settle();
	ret = vpmu_counter_config_matching(pmu(), a0, a1, a2, a3, a4);

	if (__builtin_expect(ret.error != SBI_SUCCESS, 0))
		return config_not_granted(ret.error);
	return pair(ret);
}

static VSBI_FN(start)
{
	vs_interrupts_settle();
	return vpmu_start_answer(pmu(), a0, a1, a2, a3);
}

static VSBI_FN(stop)
{
	vs_interrupts_settle();
	return vpmu_stop_answer(pmu(), a0, a1, a2);
}

static VSBI_FN(fw_read)
{
	return pair(vpmu_counter_fw_read(pmu(), a0));
}

static VSBI_FN(fw_read_hi)
{
	return pair(vpmu_counter_fw_read_hi(pmu(), a0));
}

static VSBI_FN(snapshot)
{
	return pair(vpmu_snapshot_set_shmem(pmu(), a0, a1, a2));
}

/* The guest's registers still hold the arguments. */
static bool more_event_info(struct vcpu *vcpu)
{
	uint64_t *a = &vcpu->ctx.x[REG_A0];
	uint64_t *next = &vcpu->call.at;
	struct sbi_ret ret = vpmu_event_get_info(&vcpu->pmu, a[0], a[1], a[2], a[3], next);

	if (!*next)
		a[0] = (uint64_t)ret.error;
	return *next;
}

static VSBI_FN(event_get_info)
{
	struct long_call call = {.slice = more_event_info};
	struct sbi_ret ret = vpmu_event_get_info(pmu(), a0, a1, a2, a3, &call.at);

	if (!call.at)
		return pair(ret);
	long_call_begin(this_vcpu(), &call);
	return vsbi_result((long)a0, 0); /* a1 is 0, and so is the value that is returned at last */
}

const struct vsbi_slot vsbi_pmu = {
    .eid = SBI_EXT_PMU,
    .fn[SBI_PMU_NUM_COUNTERS] = num_counters,
    .fn[SBI_PMU_COUNTER_GET_INFO] = get_info,
    .fn[SBI_PMU_COUNTER_CONFIG_MATCHING] = config_matching,
    .fn[SBI_PMU_COUNTER_START] = start,
    .fn[SBI_PMU_COUNTER_STOP] = stop,
    .fn[SBI_PMU_COUNTER_FW_READ] = fw_read,
    .fn[SBI_PMU_COUNTER_FW_READ_HI] = fw_read_hi,
    .fn[SBI_PMU_SNAPSHOT_SET_SHMEM] = snapshot,
    .fn[SBI_PMU_EVENT_GET_INFO] = event_get_info,
};
