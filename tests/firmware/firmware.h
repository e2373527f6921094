/* SPDX-License-Identifier: Apache-2.0 */
/* README.md says what this firmware does and what it can be told to do wrong. */
#ifndef TESTS_FIRMWARE_H
#define TESTS_FIRMWARE_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/riscv/hart/sbi_spec.h"
#include "vpmu/sbi_pmu.h"

#define BIT(n) (1UL << (n))

#define csr_read(csr)                                                                              \
	({                                                                                         \
		uint64_t csr_v_;                                                                   \
		__asm__ volatile("csrr %0, " #csr : "=r"(csr_v_)::"memory");                       \
		csr_v_;                                                                            \
	})
#define csr_write(csr, v) __asm__ volatile("csrw " #csr ", %0" ::"r"((uint64_t)(v)) : "memory")
#define csr_set(csr, v)   __asm__ volatile("csrs " #csr ", %0" ::"r"((uint64_t)(v)) : "memory")
#define csr_clear(csr, v) __asm__ volatile("csrc " #csr ", %0" ::"r"((uint64_t)(v)) : "memory")

struct frame {
	uint64_t x[32];
};

/* Returns what follows this word (without its "fw.") on the command line, NULL: it is not there.
 * The word includes its "=", if it has one. */
const char *option(const char *word);
bool option_is(const char *word);

/* pmu.c */
void pmu_init(void);
struct sbi_ret pmu_call(uint64_t fid, const uint64_t *a);
uint64_t pmu_counter(uint32_t idx);
void pmu_set_counter(uint32_t idx, uint64_t value);
uint64_t pmu_event(uint32_t idx);
void pmu_set_event(uint32_t idx, uint64_t value);

/* illegal.c: handles an illegal instruction that trapped to M-mode. */
void illegal_instruction(struct frame *f);

#endif
