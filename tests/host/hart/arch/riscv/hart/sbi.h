/* SPDX-License-Identifier: Apache-2.0 */
/* There is no firmware, or the test is the firmware. */
#ifndef HOST_SBI_H
#define HOST_SBI_H

#include "arch/riscv/hart/sbi_spec.h"
#include "core/lib/types.h"
#include "vpmu/sbi_pmu.h"

/* The firmware has no instructions here. */
#define sbi_call_in_stay sbi_call
#define sbi_call_counted(eid, fid, arg0, arg1, arg2, arg3, arg4, insns)                            \
	(*(insns) = 0, sbi_call(eid, fid, arg0, arg1, arg2, arg3, arg4))

static inline void sbi_leave_out(uint64_t insns)
{
	(void)insns;
}

#ifdef HOST_FIRMWARE

struct sbi_ret sbi_call(uint64_t eid, uint64_t fid, uint64_t arg0, uint64_t arg1, uint64_t arg2,
                        uint64_t arg3, uint64_t arg4);

#else

static inline struct sbi_ret sbi_call(uint64_t eid, uint64_t fid, uint64_t arg0, uint64_t arg1,
                                      uint64_t arg2, uint64_t arg3, uint64_t arg4)
{
	(void)eid, (void)fid, (void)arg0, (void)arg1, (void)arg2, (void)arg3, (void)arg4;
	return (struct sbi_ret){.error = SBI_ERR_NOT_SUPPORTED};
}

#endif

#endif
