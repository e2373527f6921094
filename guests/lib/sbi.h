/* SPDX-License-Identifier: Apache-2.0 */
/* SBI calls. */
#ifndef GUESTS_LIB_SBI_H
#define GUESTS_LIB_SBI_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/riscv/hart/sbi_spec.h"
#include "guests/lib/insn.h"
#include "vpmu/sbi_pmu.h"

static inline struct sbiret sbi_pmu(unsigned long fid, unsigned long a0, unsigned long a1,
                                    unsigned long a2, unsigned long a3, unsigned long a4)
{
	return sbi_call(SBI_EXT_PMU, fid, a0, a1, a2, a3, a4, 0);
}

static inline struct sbiret pmu_config(uint64_t mask, uint64_t flags, uint64_t event)
{
	return sbi_pmu(SBI_PMU_COUNTER_CONFIG_MATCHING, 0, mask, flags, event, 0);
}

static inline long pmu_start(uint64_t mask, uint64_t value)
{
	return sbi_pmu(SBI_PMU_COUNTER_START, 0, mask, SBI_PMU_START_SET_INIT_VALUE, value, 0)
	    .error;
}

static inline long pmu_stop(uint64_t mask)
{
	return sbi_pmu(SBI_PMU_COUNTER_STOP, 0, mask, 0, 0, 0).error;
}

static inline long pmu_reset(uint64_t mask)
{
	return sbi_pmu(SBI_PMU_COUNTER_STOP, 0, mask, SBI_PMU_STOP_FLAG_RESET, 0, 0).error;
}

/* Ends the guest; does not return. */
void sbi_shutdown(unsigned long reason) __attribute__((noreturn));

#endif
