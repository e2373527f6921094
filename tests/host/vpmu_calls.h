/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's calls that return a vpmu_answer, with a struct sbi_ret instead. */
#ifndef TESTS_HOST_VPMU_CALLS_H
#define TESTS_HOST_VPMU_CALLS_H

#include "vpmu/vpmu.h"

static inline struct sbi_ret vpmu_unpack(vpmu_answer answer)
{
	return (struct sbi_ret){.error = (long)answer, .value = (unsigned long)(answer >> 64)};
}

static inline struct sbi_ret vpmu_counter_start(struct vpmu *v, unsigned long counter_idx_base,
                                                unsigned long counter_idx_mask,
                                                unsigned long start_flags, uint64_t initial_value)
{
	return vpmu_unpack(
	    vpmu_start_answer(v, counter_idx_base, counter_idx_mask, start_flags, initial_value));
}

static inline struct sbi_ret vpmu_counter_stop(struct vpmu *v, unsigned long counter_idx_base,
                                               unsigned long counter_idx_mask,
                                               unsigned long stop_flags)
{
	return vpmu_unpack(vpmu_stop_answer(v, counter_idx_base, counter_idx_mask, stop_flags));
}

#endif
