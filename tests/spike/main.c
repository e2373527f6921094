/* SPDX-License-Identifier: Apache-2.0 */
/* The order matters: the probe comes first, on an unused hart; what disturbs most comes last. */
#include "tests/spike/spike.h"

#define SBI_EXT_SRST 0x53525354UL

void spike_main(void);
void spike_main(void)
{
	csr_write(CSR_STIMECMP, -1UL);
	csr_write(CSR_HGATP, 0);
	csr_write(CSR_VSATP, 0);
	csr_write(CSR_HEDELEG, 0);
	csr_write(CSR_HIDELEG, 0x444);
	csr_write(CSR_HCOUNTEREN, 0);
	csr_write(CSR_VSIE, 0);
	csr_set(CSR_HVIEN, LCOFI); /* from now on hvip.13 is not the physical LCOFIP */
	csr_write(sie, 0x20);
	print("spike: scountovf at boot 0x%x", csr_read(CSR_SCOUNTOVF));
	hpm_scrub();
	print(", scrubbed 0x%x\n", csr_read(CSR_SCOUNTOVF));
	check_eq(csr_read(CSR_SCOUNTOVF), 0, "scountovf can be scrubbed");
	check(ssccfg_learn(), "event selectors can be learnt");
	test_probe();
	test_cost();
	test_switch(&way_sbi);
	test_values(&way_sbi);
	test_overflow(&way_sbi);
	check(ssccfg_adopt(CTR_CYCLES, 0x1) && ssccfg_adopt(CTR_INSTR, 0x2), "counters adopted");
	test_switch(&way_ssccfg);
	test_values(&way_ssccfg);
	test_overflow(&way_ssccfg);
	test_platform();
	test_allocator();
	print("%u passed, %u failed\n", (uint64_t)passed, (uint64_t)failed);
	sbi(SBI_EXT_SRST, 0, 0, 0, 0, 0, 0);
	for (;;)
		__asm__ volatile("wfi");
}
