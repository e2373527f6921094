/* SPDX-License-Identifier: Apache-2.0 */
/* The same numbers; the CSRs are those of the machine's hart that runs now. */
#ifndef MACHINE_CSR_H
#define MACHINE_CSR_H

#define wfi wfi_of_a_hart
#include_next "arch/riscv/hart/csr.h"
#undef wfi

uint64_t machine_csr_read(uint32_t csr);
void machine_csr_write(uint32_t csr, uint64_t value);
/* Traps, for a trap_guard, if the hart has no such CSR. */
uint64_t machine_csr_try(uint32_t csr);
void machine_wfi(void);

#undef csr_read
#undef csr_write
#undef csr_set
#undef csr_clear
#undef csr_read_set
#undef csr_swap
#undef csr_read_guarded
#define csr_read(csr)     machine_csr_read(csr)
#define csr_write(csr, v) machine_csr_write(csr, v)
#define csr_set(csr, v)   machine_csr_write(csr, machine_csr_read(csr) | (v))
#define csr_clear(csr, v) machine_csr_write(csr, machine_csr_read(csr) & ~(uint64_t)(v))
#define csr_swap(csr, v)                                                                           \
	({                                                                                         \
		uint64_t csr_v_ = machine_csr_read(csr);                                           \
		machine_csr_write(csr, v);                                                         \
		csr_v_;                                                                            \
	})
#define csr_read_set(csr, v)                                                                       \
	({                                                                                         \
		uint64_t csr_v_ = machine_csr_read(csr);                                           \
		machine_csr_write(csr, csr_v_ | (v));                                              \
		csr_v_;                                                                            \
	})
#define csr_read_guarded(csr) machine_csr_try(csr)
#define wfi()                 machine_wfi()

#endif
