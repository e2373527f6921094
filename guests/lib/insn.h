/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that C cannot express. On a host, tests/host/hart replaces this header. */
#ifndef GUESTS_LIB_INSN_H
#define GUESTS_LIB_INSN_H

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

static inline void wfi(void)
{
	__asm__ volatile("wfi" ::: "memory");
}

static inline void nop(void)
{
	__asm__ volatile("nop" ::: "memory");
}

#endif
