/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/hart/cbo.h"

/* MISC-MEM with funct3 = 2. The immediate selects the operation. */
#define CBO_INVAL 0
#define CBO_CLEAN 1
#define CBO_FLUSH 2
#define CBO_ZERO  4

#define CBO(operation, address)                                                                    \
	__asm__ volatile(".insn i 0x0f, 2, x0, %0, %1" ::"r"(address), "i"(operation) : "memory")

static uint8_t scratch[2 * CBO_MAX_BLOCK] __attribute__((aligned(CBO_MAX_BLOCK)));

bool cbo_is_block(uint32_t size)
{
	return size && !(size & (size - 1)) && size <= CBO_MAX_BLOCK;
}

bool cbo_zeroes(uint32_t size)
{
	uint32_t i;

	for (i = 0; i < sizeof(scratch); i++)
		scratch[i] = 0xff;
	CBO(CBO_ZERO, scratch);
	for (i = 0; i < sizeof(scratch) && !scratch[i]; i++)
		;
	return i == size;
}

/* The firmware may permit some of these instructions and forbid others. */
void cbo_try_all(void)
{
	CBO(CBO_CLEAN, scratch);
	CBO(CBO_FLUSH, scratch);
	CBO(CBO_INVAL, scratch);
}

/* Clearing costs about 0.04 instructions per byte with blocks of 64 bytes. Parts of a round are
 * cleared by stores. */
#define BLOCKS_A_ROUND 4U
void cbo_clear(void *to, uint64_t size, uint32_t block)
{
	uint64_t at = (uint64_t)to, end = at + size, round = BLOCKS_A_ROUND * (uint64_t)block;
	uint64_t last = round ? ALIGN_DOWN(end, round) : end;

	at = round ? ALIGN_UP(at, round) : end;
	if (at >= last) {
		__builtin_memset(to, 0, size);
		return;
	}
	__builtin_memset(to, 0, at - (uint64_t)to);
	__builtin_memset((void *)last, 0, end - last);
	while (at < last) {
		for (uint32_t i = 0; i < BLOCKS_A_ROUND; i++, at += block)
			CBO(CBO_ZERO, at);
	}
}
