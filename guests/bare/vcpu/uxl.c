/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for users with registers of 128 bits (sstatus.UXL = 3), and lets one read vtype. */
#include "guests/bare/bare.h"

#define CSR_VTYPE 0xc21

int uxl(uint64_t hartid)
{
	(void)hartid;
	csr_set(sstatus, 3UL << 32 | SSTATUS_VS);
	print("uxl: %u\n", csr_read(sstatus) >> 32 & 3);
	insn_passes_in_user(INSN_CSRR_A0(CSR_VTYPE), 0);
	print("uxl: ends\n");
	return 0;
}
