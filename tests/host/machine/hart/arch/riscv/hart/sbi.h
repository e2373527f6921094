/* SPDX-License-Identifier: Apache-2.0 */
/* The machine is the firmware. */
#ifndef MACHINE_SBI_H
#define MACHINE_SBI_H

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

struct sbi_ret sbi_call(uint64_t eid, uint64_t fid, uint64_t arg0, uint64_t arg1, uint64_t arg2,
                        uint64_t arg3, uint64_t arg4);

static inline bool sbi_probe(uint64_t eid)
{
	struct sbi_ret ret = sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, eid, 0, 0, 0, 0);

	return ret.error == SBI_SUCCESS && ret.value != 0;
}

#endif
