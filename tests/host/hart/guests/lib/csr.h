/* SPDX-License-Identifier: Apache-2.0 */
/* The same numbers; the CSRs are those of the machine of tests/host/selftest_hart.h. */
#ifndef HOST_GUEST_CSR_H
#define HOST_GUEST_CSR_H

#include_next "guests/lib/csr.h"

/* Those that the guest names. */
enum {
	sstatus = 0x100,
	sie = 0x104,
	scounteren = 0x106,
	sip = 0x144,
	time = 0xc01,
};

uint64_t guest_csr_read(uint32_t csr);
void guest_csr_write(uint32_t csr, uint64_t value);

#undef csr_read
#undef csr_write
#undef csr_set
#undef csr_clear
#define csr_read(csr)     guest_csr_read(csr)
#define csr_write(csr, v) guest_csr_write(csr, v)
#define csr_set(csr, v)   guest_csr_write(csr, guest_csr_read(csr) | (v))
#define csr_clear(csr, v) guest_csr_write(csr, guest_csr_read(csr) & ~(v))

#endif
