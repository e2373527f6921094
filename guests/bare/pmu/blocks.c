/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Zicbom and Zicboz. If the device tree has them, S may execute all four instructions, and U those
 * that senvcfg permits. A counter counts each as one instruction. Only cbo.zero changes memory, one
 * block of it; a guest's cbo.inval flushes. With has=no the tree has neither, so all of them trap.
 */
#include "guests/bare/pmu/check.h"
#include "guests/bare/bare.h"

#define CBO_A0(operation) ((uint32_t)(operation) << 20 | 0x5200fU)
#define CBIE_FLUSH        (1UL << 4)
#define CBIE_INVAL        (3UL << 4)
#define CBCFE             (1UL << 6)
#define CBZE              (1UL << 7)
#define OUTSIDE           0x40000000UL
#define BYTES             4096U

static const struct {
	const char *name;
	uint32_t operation;
	uint64_t enable; /* bits of senvcfg, for U */
} operations[] = {
    {"cbo.inval", 0, CBIE_INVAL},
    {"cbo.clean", 1, CBCFE},
    {"cbo.flush", 2, CBCFE},
    {"cbo.zero", 4, CBZE},
};

static uint8_t memory[BYTES] __attribute__((aligned(BYTES)));

static uint64_t zeros(void)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < BYTES; i++)
		n += !memory[i];
	return n;
}

static void one(unsigned i, bool has)
{
	const char *name = operations[i].name;
	uint32_t insn = CBO_A0(operations[i].operation);
	uint64_t cleared = operations[i].operation == 4 ? 64 : 0;

	csr_write(senvcfg, 0);
	for (unsigned b = 0; b < BYTES; b++)
		memory[b] = 0xa5;
	check(name, insn_passes(insn, (uint64_t)memory), has);
	check("in U, not enabled", insn_passes_in_user(insn, (uint64_t)memory), false);
	check("bytes cleared", zeros(), has ? cleared : 0);
	csr_write(senvcfg, operations[i].enable);
	check("in U, enabled", insn_passes_in_user(insn, (uint64_t)memory + 128), has);
	check("bytes cleared", zeros(), has ? 2 * cleared : 0);
	check("outside its memory", insn_passes(insn, OUTSIDE), false);
}

/* ori x0, a0, which: a hint that never traps. */
static void prefetch(uint32_t which)
{
	check("prefetch", insn_passes(0x6013U | 10U << 15 | which << 20, (uint64_t)memory), true);
	check("prefetch, outside", insn_passes(0x6013U | 10U << 15 | which << 20, OUTSIDE), true);
}

/* Counts the instruction between two reads of a counter, compared with none. */
static uint64_t counted(uint32_t ctr, uint32_t insn)
{
	uint64_t before = counter_read(ctr);

	for (int i = 0; i < 100; i++)
		insn_run(insn, (uint64_t)memory);
	return counter_read(ctr) - before;
}

static void count(void)
{
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);
	const uint32_t nop_a0 = 0x50513U; /* addi a0, a0, 0 */

	check_error("a counter", r, SBI_SUCCESS);
	pmu_start(BIT(r.value), 1);
	for (unsigned i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		check("instructions counted",
		      counted((uint32_t)r.value, CBO_A0(operations[i].operation)),
		      counted((uint32_t)r.value, nop_a0));
	pmu_reset(BIT(r.value));
}

int blocks(uint64_t hartid)
{
	bool has = !bootarg_is("has", "no");

	(void)hartid;
	for (unsigned i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		one(i, has);
	if (has)
		count();
	prefetch(0);
	prefetch(1);
	prefetch(3);
	return check_end("blocks");
}
