/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happens in the very stay in which a life ends.
 *   kind=last-breath n= k=  vcpu 1 executes some 2 * n + k instructions in a period of its budget,
 *                           and then asks for the end of its VM. If its budget is spent by that
 *                           very instruction, it must not run on for it, in whatever life.
 *   kind=once-more          asks for a restart of beta, and tells the answer and, a while later,
 *                           beta's state.
 */
#include "guests/bare/bare.h"
#include "guests/bare/vcpu/smp.h"

#define BETA 0x61746562UL /* its name, as an argument */

static volatile uint64_t pulse;

/* It was away for longer than `ticks`: a period begins. */
static void await_period(uint64_t ticks)
{
	uint64_t last = csr_read(time), now = last;

	while (now - last < ticks) {
		last = now;
		now = csr_read(time);
	}
}

static void ending(uint64_t hartid, struct smp_vcpu *self)
{
	uint64_t n = bootarg_num("n", 0), k = bootarg_num("k", 0);
	register uint64_t type __asm__("a0") = SBI_SRST_SHUTDOWN;
	register uint64_t reason __asm__("a1") = SBI_SRST_REASON_SYSFAIL;
	register uint64_t fid __asm__("a6") = SBI_SRST_RESET;
	register uint64_t eid __asm__("a7") = SBI_EXT_SRST;

	(void)hartid;
	(void)self;
	await_period(5000000);
	__asm__ volatile(".option push\n.option norvc\n"
	                 "la t0, 2f\n"
	                 "slli t1, %1, 2\n"
	                 "sub t0, t0, t1\n"
	                 "1: addi %0, %0, -1\n"
	                 "bnez %0, 1b\n"
	                 "jr t0\n"
	                 ".rept 64\nnop\n.endr\n"
	                 "2: ecall\n"
	                 "3: ld t0, (%2)\n"
	                 "addi t0, t0, 1\n"
	                 "sd t0, (%2)\n"
	                 "j 3b\n"
	                 ".option pop\n"
	                 : "+r"(n)
	                 : "r"(k), "r"(&pulse), "r"(type), "r"(reason), "r"(fid), "r"(eid)
	                 : "t0", "t1", "memory");
}

int last_breath(uint64_t hartid)
{
	(void)hartid;
	sleep_for(15000000);
	print("last-breath: pulse %u, vcpu 1 is in state %u\n", pulse,
	      hsm(SBI_HSM_HART_GET_STATUS, 1, 0, 0).value);
	smp_start(1, ending);
	sleep_for(100000000);
	return 0;
}

int once_more(uint64_t hartid)
{
	struct sbiret asked;

	(void)hartid;
	sleep_for(1000000);
	asked = sbi_call(SBI_EXT_TALLY, SBI_TALLY_RESTART, BETA, 0, 0, 0, 0, 0);
	sleep_for(5000000);
	print("once-more: error %d, state %u\n", asked.error,
	      sbi_call(SBI_EXT_TALLY, SBI_TALLY_VM_STATE, BETA, 0, 0, 0, 0, 0).value & 255);
	return 0;
}
