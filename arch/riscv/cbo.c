/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/cbo.h"

#include "arch/riscv/isa.h"
#include "arch/riscv/trap.h"

/* MISC-MEM with funct3 = 2. The immediate selects the operation. */
#define CBO_INVAL 0
#define CBO_CLEAN 1
#define CBO_FLUSH 2
#define CBO_ZERO  4

/* Returns false if the instruction trapped. */
#define CBO(operation, address)                                                                    \
	({                                                                                         \
		struct trap_guard guard_;                                                          \
		trap_guard_begin(&guard_);                                                         \
		__asm__ volatile(".insn i 0x0f, 2, x0, %0, %1" ::"r"(address), "i"(operation)      \
		                 : "memory");                                                      \
		trap_guard_end(&guard_) == ~0UL;                                                   \
	})

static uint8_t scratch[2 * CBO_MAX_BLOCK] __attribute__((aligned(CBO_MAX_BLOCK)));

static bool is_block(uint32_t size)
{
	return size && !(size & (size - 1)) && size <= CBO_MAX_BLOCK;
}

/* Whether cbo.zero clears exactly one block. */
static bool zeroes(uint32_t size)
{
	uint32_t i;

	for (i = 0; i < sizeof(scratch); i++)
		scratch[i] = 0xff;
	if (!CBO(CBO_ZERO, scratch))
		return false;
	for (i = 0; i < sizeof(scratch) && !scratch[i]; i++)
		;
	return i == size;
}

/* The firmware may permit some of these instructions and not others. */
static bool manages(void)
{
	return CBO(CBO_CLEAN, scratch) && CBO(CBO_FLUSH, scratch) && CBO(CBO_INVAL, scratch);
}

uint64_t cbo_probe(uint64_t isa, const struct cbo_blocks *blocks)
{
	uint64_t works = 0;

	if (isa & BIT(ISA_ZICBOM) && is_block(blocks->zicbom) && manages())
		works |= BIT(ISA_ZICBOM);
	if (isa & BIT(ISA_ZICBOZ) && is_block(blocks->zicboz) && zeroes(blocks->zicboz))
		works |= BIT(ISA_ZICBOZ);
	if (isa & BIT(ISA_ZICBOP) && is_block(blocks->zicbop))
		works |= BIT(ISA_ZICBOP);
	return works;
}

/* About 0.04 instructions a byte with blocks of 64 bytes. */
#define BLOCKS_A_ROUND 4U
void cbo_clear(void *to, uint64_t size, uint32_t block)
{
	uint64_t at = (uint64_t)to, end = at + size;

	if (!block || (at | size) & (BLOCKS_A_ROUND * block - 1)) {
		__builtin_memset(to, 0, size);
		return;
	}
	while (at < end) {
		for (uint32_t i = 0; i < BLOCKS_A_ROUND; i++, at += block)
			__asm__ volatile(".insn i 0x0f, 2, x0, %0, %1" ::"r"(at), "i"(CBO_ZERO)
			                 : "memory");
	}
}
