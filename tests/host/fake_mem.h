/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of the guests of the fake hart, one for each vcpu. Each access through vpmu/port.h is
 * recorded, so that a test can say afterwards which words may have been read and written.
 */
#ifndef TESTS_HOST_FAKE_MEM_H
#define TESTS_HOST_FAKE_MEM_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_RAM      0x80000000ULL
#define FAKE_RAM_SIZE 0x10000ULL
#define FAKE_RAM_END  (FAKE_RAM + FAKE_RAM_SIZE)

/* Sets all to zero, with no access recorded. */
void fake_mem_reset(void);

bool fake_mem_is_ram(uint64_t gpa, uint64_t n);

/* Accesses by the guest itself. The range is in RAM. */
void fake_mem_peek(uint32_t vcpu, uint64_t gpa, void *to, uint32_t n);
void fake_mem_poke(uint32_t vcpu, uint64_t gpa, const void *from, uint32_t n);
uint64_t fake_mem_peek64(uint32_t vcpu, uint64_t gpa);

/* Discards the recorded accesses. */
void fake_mem_forget(void);
uint32_t fake_mem_touches(void);

/*
 * Counts how often each 4-byte word from base on was read and written since fake_mem_forget().
 * Returns false if an access was elsewhere, or not of whole words.
 */
bool fake_mem_touched(uint64_t base, uint32_t words, uint8_t *reads, uint8_t *writes);

#endif
