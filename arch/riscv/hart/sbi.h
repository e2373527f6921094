/* SPDX-License-Identifier: Apache-2.0 */
/* SBI calls to the firmware. Any hart may make them, in HS-mode. */
#ifndef ARCH_RISCV_HART_SBI_H
#define ARCH_RISCV_HART_SBI_H

#include "arch/riscv/hart/context.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi_spec.h"
#include "core/lib/types.h"
#include "vpmu/sbi_pmu.h"

static inline struct sbi_ret sbi_call(uint64_t eid, uint64_t fid, uint64_t arg0, uint64_t arg1,
                                      uint64_t arg2, uint64_t arg3, uint64_t arg4)
{
	register uint64_t a0 __asm__("a0") = arg0;
	register uint64_t a1 __asm__("a1") = arg1;
	register uint64_t a2 __asm__("a2") = arg2;
	register uint64_t a3 __asm__("a3") = arg3;
	register uint64_t a4 __asm__("a4") = arg4;
	register uint64_t a6 __asm__("a6") = fid;
	register uint64_t a7 __asm__("a7") = eid;

	__asm__ volatile("ecall"
	                 : "+r"(a0), "+r"(a1)
	                 : "r"(a2), "r"(a3), "r"(a4), "r"(a6), "r"(a7)
	                 : "memory");
	return (struct sbi_ret){.error = (long)a0, .value = a1};
}

/*
 * A stay in HS is Tally's own instructions, but without Smcntrpmf instret counts those of the
 * firmware too. So this moves the beginning of the hart's stay by the instructions since `before`,
 * a value of instret. Nothing may have changed instret meanwhile.
 */
static inline void sbi_leave_out(uint64_t before)
{
	uint64_t sp;

	__asm__("mv %0, sp" : "=r"(sp));
	*(uint64_t *)(ALIGN_DOWN(sp, HART_STACK_SIZE) + HART_STACK_STAY) +=
	    csr_read(CSR_INSTRET) - before;
}

/* For calls while guests run, which do not change instret. */
static inline struct sbi_ret sbi_call_in_stay(uint64_t eid, uint64_t fid, uint64_t arg0,
                                              uint64_t arg1, uint64_t arg2, uint64_t arg3,
                                              uint64_t arg4)
{
	uint64_t before = csr_read(CSR_INSTRET);
	struct sbi_ret ret = sbi_call(eid, fid, arg0, arg1, arg2, arg3, arg4);

	sbi_leave_out(before);
	return ret;
}

static inline bool sbi_probe(uint64_t eid)
{
	struct sbi_ret ret = sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, eid, 0, 0, 0, 0);

	return ret.error == SBI_SUCCESS && ret.value != 0;
}

#endif
