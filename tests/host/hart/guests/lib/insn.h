/* SPDX-License-Identifier: Apache-2.0 */
/* A guest's instructions on the machine of tests/host/selftest_hart.h. */
#ifndef HOST_INSN_H
#define HOST_INSN_H

struct sbiret {
	long error;
	unsigned long value;
};

struct sbiret guest_call(unsigned long ext, unsigned long fid, unsigned long arg0,
                         unsigned long arg1, unsigned long arg2, unsigned long arg3,
                         unsigned long arg4, unsigned long arg5);
#define sbi_call guest_call

void wfi(void);
void nop(void);

#endif
