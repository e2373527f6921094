/* SPDX-License-Identifier: Apache-2.0 */
/* SBI calls to the firmware. Any hart may make them, in HS-mode. */
#ifndef ARCH_RISCV_HART_SBI_H
#define ARCH_RISCV_HART_SBI_H

#include "arch/riscv/hart/context.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi_spec.h"
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

/* Moves the beginning of the hart's stay. */
static inline void sbi_leave_out(uint64_t insns)
{
	uint64_t last; /* byte of the hart's stack */

	__asm__("or %0, sp, %1" : "=r"(last) : "r"(HART_STACK_SIZE - 1));
	*(uint64_t *)(last - (HART_STACK_SIZE - 1 - HART_STACK_STAY)) += insns;
}

/* Sets *insns to the change of instret. In one piece of assembly, because C would save a register
 * to the stack. */
static inline struct sbi_ret sbi_call_counted(uint64_t eid, uint64_t fid, uint64_t arg0,
                                              uint64_t arg1, uint64_t arg2, uint64_t arg3,
                                              uint64_t arg4, uint64_t *insns)
{
	register uint64_t a0 __asm__("a0") = arg0;
	register uint64_t a1 __asm__("a1") = arg1;
	register uint64_t a2 __asm__("a2") = arg2;
	register uint64_t a3 __asm__("a3") = arg3;
	register uint64_t a4 __asm__("a4") = arg4;
	register uint64_t a5 __asm__("a5");
	register uint64_t a6 __asm__("a6") = fid;
	register uint64_t a7 __asm__("a7") = eid;

	__asm__ volatile("csrr %2, instret\n\tecall\n\tcsrr %3, instret"
	                 : "+r"(a0), "+r"(a1), "=&r"(a5), "+r"(a2)
	                 : "r"(a3), "r"(a4), "r"(a6), "r"(a7)
	                 : "memory");
	*insns = a2 - a5;
	return (struct sbi_ret){.error = (long)a0, .value = a1};
}

/* For calls while guests run, which do not change instret. A stay in HS is Tally's own
 * instructions, but without Smcntrpmf instret counts those of the firmware too. */
static inline struct sbi_ret sbi_call_in_stay(uint64_t eid, uint64_t fid, uint64_t arg0,
                                              uint64_t arg1, uint64_t arg2, uint64_t arg3,
                                              uint64_t arg4)
{
	uint64_t insns;
	struct sbi_ret ret = sbi_call_counted(eid, fid, arg0, arg1, arg2, arg3, arg4, &insns);

	sbi_leave_out(insns);
	return ret;
}

static inline bool sbi_probe(uint64_t eid)
{
	struct sbi_ret ret = sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, eid, 0, 0, 0, 0);

	return ret.error == SBI_SUCCESS && ret.value != 0;
}

#endif
