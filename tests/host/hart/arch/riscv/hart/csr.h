/* SPDX-License-Identifier: Apache-2.0 */
/* The same numbers; the CSRs themselves are an array. */
#ifndef HOST_CSR_H
#define HOST_CSR_H

#define wfi wfi_of_a_hart
#include_next "arch/riscv/hart/csr.h"
#undef wfi
#define wfi() host_wfi()
void host_wfi(void);

extern uint64_t host_csrs[4096];

#ifdef HOST_CSR_WRITES
/* A test looks at them. */
void host_csr_write(uint32_t csr, uint64_t value);
#else
static inline void host_csr_write(uint32_t csr, uint64_t value)
{
	host_csrs[csr] = value;
}
#endif

#undef csr_read
#undef csr_write
#undef csr_set
#undef csr_clear
#undef csr_read_set
#undef csr_swap
#ifdef HOST_CSR_READS
/* A test is asked. */
uint64_t host_csr_read(uint32_t csr);
#define csr_read(csr) host_csr_read(csr)
#else
#define csr_read(csr) (host_csrs[csr])
#endif
#define csr_write(csr, v) host_csr_write(csr, v)
#define csr_set(csr, v)   host_csr_write(csr, host_csrs[csr] | (v))
#define csr_clear(csr, v) host_csr_write(csr, host_csrs[csr] & ~(v))
#define csr_swap(csr, v)                                                                           \
	({                                                                                         \
		uint64_t csr_v_ = host_csrs[csr];                                                  \
		host_csr_write(csr, v);                                                            \
		csr_v_;                                                                            \
	})
#define csr_read_set(csr, v)                                                                       \
	({                                                                                         \
		uint64_t csr_v_ = host_csrs[csr];                                                  \
		host_csrs[csr] = csr_v_ | (v);                                                     \
		csr_v_;                                                                            \
	})

#endif
