/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of the guests of the fake hart, one a vcpu. Every touch through vpmu/port.h is
 * noted, so that a test can say afterwards which words may have been read and written.
 */
#ifndef TESTS_HOST_FAKE_MEM_H
#define TESTS_HOST_FAKE_MEM_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_RAM      0x80000000ULL
#define FAKE_RAM_SIZE 0x10000ULL
#define FAKE_RAM_END  (FAKE_RAM + FAKE_RAM_SIZE)

/* All zero, nothing touched. */
void fake_mem_reset(void);

bool fake_mem_is_ram(uint64_t gpa, uint64_t n);

/* As the guest itself reads and writes; the range is in RAM. */
void fake_mem_peek(uint32_t vcpu, uint64_t gpa, void *to, uint32_t n);
void fake_mem_poke(uint32_t vcpu, uint64_t gpa, const void *from, uint32_t n);
uint64_t fake_mem_peek64(uint32_t vcpu, uint64_t gpa);

/* Forgets the touches so far, and their number. */
void fake_mem_forget(void);
uint32_t fake_mem_touches(void);

/*
 * How often each 4-byte word from base on was read and written since the last forget. false: a
 * touch was elsewhere, or not of whole words.
 */
bool fake_mem_touched(uint64_t base, uint32_t words, uint8_t *reads, uint8_t *writes);

#endif
