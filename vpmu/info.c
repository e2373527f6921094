/* SPDX-License-Identifier: Apache-2.0 */
/* The list of counters, and their values. Nothing here changes a counter. */
#include "vpmu/internal.h"
#include "vpmu/retired.h"

#define CSR_CYCLE 0xc00U

static bool in_set(uint64_t set, unsigned long counter_idx)
{
	return counter_idx < VPMU_COUNTERS && (set >> counter_idx & 1) != 0;
}

/* Not inlined, so that most firmware events need no stack. */
static __attribute__((noinline)) uint64_t fw_value(const struct vpmu *v, lctr_t lctr)
{
	const struct vpmu_counter *c = &v->counter[lctr.idx];

	return (v->running >> lctr.idx & 1) != 0 ? vpmu_fw_total(v, lctr) + c->offset : c->value;
}

uint64_t vpmu_value(const struct vpmu *v, lctr_t lctr)
{
	return (v->fw_lctrs >> lctr.idx & 1) != 0 ? fw_value(v, lctr) : vpmu_csr_value(v, lctr.idx);
}

struct sbi_ret vpmu_num_counters(const struct vpmu *v)
{
	return vpmu_result(SBI_SUCCESS, v->policy.fw_base + VPMU_FW_COUNTERS);
}

struct sbi_ret vpmu_counter_get_info(const struct vpmu *v, unsigned long counter_idx)
{
	if (in_set(v->policy.hctrs, counter_idx))
		return vpmu_result(SBI_SUCCESS, (unsigned long)(v->policy.width - 1)
		                                        << SBI_PMU_INFO_WIDTH_SHIFT |
		                                    (CSR_CYCLE + counter_idx));
	if (in_set(v->fw_lctrs, counter_idx))
		return vpmu_result(SBI_SUCCESS,
		                   SBI_PMU_INFO_TYPE_FW | 63UL << SBI_PMU_INFO_WIDTH_SHIFT);
	return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
}

/* Table 43 leaves open whether an unconfigured counter is invalid. It counts nothing, so a value
 * with SUCCESS would be a wrong count. */
struct sbi_ret vpmu_counter_fw_read(const struct vpmu *v, unsigned long counter_idx)
{
	const struct vpmu_counter *c = &v->counter[counter_idx % VPMU_COUNTERS];

	/* Does the same as fw_value() in fewer instructions. */
	if (in_set(v->fw_lctrs & v->running, counter_idx) && c->hctr < VPMU_FW_EVENTS)
		return vpmu_result(SBI_SUCCESS, v->fw_total[c->hctr] + c->offset);
	if (!in_set(v->fw_lctrs & v->configured, counter_idx))
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	return vpmu_result(SBI_SUCCESS, fw_value(v, (lctr_t){(uint32_t)counter_idx}));
}

/* Section 11.12: the upper half is always zero on RV64. */
struct sbi_ret vpmu_counter_fw_read_hi(const struct vpmu *v, unsigned long counter_idx)
{
	if (!in_set(v->fw_lctrs, counter_idx))
		return vpmu_result(SBI_ERR_INVALID_PARAM, 0);
	return vpmu_result(SBI_SUCCESS, 0);
}
