/* SPDX-License-Identifier: Apache-2.0 */
/* SBI calls. */
#ifndef GUESTS_LIB_SBI_H
#define GUESTS_LIB_SBI_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/riscv/sbi_spec.h"
#include "vpmu/sbi_pmu.h"

struct sbiret {
	long error;
	unsigned long value;
};

static inline struct sbiret sbi_call(unsigned long ext, unsigned long fid, unsigned long arg0,
                                     unsigned long arg1, unsigned long arg2, unsigned long arg3,
                                     unsigned long arg4, unsigned long arg5)
{
	register unsigned long a0 __asm__("a0") = arg0;
	register unsigned long a1 __asm__("a1") = arg1;
	register unsigned long a2 __asm__("a2") = arg2;
	register unsigned long a3 __asm__("a3") = arg3;
	register unsigned long a4 __asm__("a4") = arg4;
	register unsigned long a5 __asm__("a5") = arg5;
	register unsigned long a6 __asm__("a6") = fid;
	register unsigned long a7 __asm__("a7") = ext;

	__asm__ volatile("ecall"
	                 : "+r"(a0), "+r"(a1)
	                 : "r"(a2), "r"(a3), "r"(a4), "r"(a5), "r"(a6), "r"(a7)
	                 : "memory");
	return (struct sbiret){(long)a0, a1};
}

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
