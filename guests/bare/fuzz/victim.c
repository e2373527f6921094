/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts, samples, keeps marks in all registers and in memory, and looks at its time, rounds=
 * times. What it prints depends on nothing but its bootargs: counts=no     counts, samples and its
 * share of time are not looked at: the hart's counters have no meaning others=N      there are so
 * many vcpus besides it on its hart, which take turns with it vector=1      the hart has V
 */
#include "guests/bare/fuzz/victim.h"

#define WINDOW       0x40000000UL /* virtual addresses that lead to its pages, in turn */
#define PAGES        64UL
#define STEAL_TICKS  (SBI_PMU_TYPE_FW << 16 | 266UL) /* docs/events.md */
#define SLICE        20000UL
#define INTERRUPTION 1000UL /* what a turn may last longer, with the work at its ends */
#define WAIT         50000UL
#define SPINS        1500000UL

static uint64_t pages[PAGES][512] __attribute__((aligned(4096)));
static uint64_t root[512] __attribute__((aligned(4096)));
static uint64_t middle[512] __attribute__((aligned(4096)));
static uint64_t lower[512] __attribute__((aligned(4096)));
static uint64_t wrong, last_time, longest_gap, steal_ctr, began;

void victim_wrong(const char *what, uint64_t got, uint64_t wanted)
{
	print("victim: %s: 0x%x, not 0x%x WRONG\n", what, got, wanted);
	wrong++;
}

static uint64_t word_of(uint64_t page, uint64_t i)
{
	return (page * 512 + i + 1) * 0x9e3779b97f4a7c15UL;
}

/* Time goes forward. */
static uint64_t now(void)
{
	uint64_t time = csr_read(time), before = last_time;

	if (time < before)
		victim_wrong("time went back", time, before);
	last_time = time;
	return time - before;
}

/* It stops for no longer than the others' turns. */
static void let_others_run(void)
{
	uint64_t until;

	now();
	until = last_time + WAIT;
	while (last_time < until) {
		uint64_t gap = now();

		longest_gap = gap > longest_gap ? gap : longest_gap;
	}
}

static void fill(void)
{
	for (uint64_t p = 0; p < PAGES; p++)
		for (uint64_t i = 0; i < 512; i++)
			pages[p][i] = word_of(p, i);
	root[2] = (0x80000000UL >> 12) << 10 | 0xcf;
	root[1] = (uint64_t)middle >> 12 << 10 | 1;
	middle[0] = (uint64_t)lower >> 12 << 10 | 1;
}

/* Maps the window to its pages with another one first in each round, and looks at all words. */
static void memory(uint64_t round)
{
	for (uint64_t p = 0; p < PAGES; p++)
		lower[p] = (uint64_t)pages[(p + round) % PAGES] >> 12 << 10 | 0xc7;
	csr_write(satp, 8UL << 60 | (round & 3) << 44 | (uint64_t)root >> 12);
	__asm__ volatile("sfence.vma" ::: "memory");
	for (uint64_t n = 0; n < 2; n++) {
		for (uint64_t p = 0; p < PAGES; p++) {
			volatile uint64_t *at = (volatile uint64_t *)(WINDOW + p * 4096);

			for (uint64_t i = n; i < 512; i += 8)
				if (at[i] != word_of((p + round) % PAGES, i))
					victim_wrong("memory", at[i],
					             word_of((p + round) % PAGES, i));
		}
		if (!n)
			let_others_run();
	}
	csr_write(satp, 0);
	__asm__ volatile("sfence.vma" ::: "memory");
}

/* CSRs of a trap, which nothing but its own traps may change. */
static void trap_state(uint64_t mark)
{
	uint64_t vector = csr_read(stvec), found[5];
	const uint64_t wanted[5] = {mark & ~3UL, mark, mark, mark & 15, mark & ~3UL};

	csr_write(sepc, wanted[0]);
	csr_write(stval, wanted[1]);
	csr_write(sscratch, wanted[2]);
	csr_write(scause, wanted[3]);
	csr_write(stvec, wanted[4]);
	let_others_run();
	found[4] = csr_read(stvec);
	csr_write(stvec, vector);
	found[0] = csr_read(sepc);
	found[1] = csr_read(stval);
	found[2] = csr_read(sscratch);
	found[3] = csr_read(scause);
	csr_write(sscratch, 0);
	for (unsigned i = 0; i < 5; i++)
		if (found[i] != wanted[i])
			victim_wrong("CSR of a trap", found[i], wanted[i]);
}

static void registers(uint64_t round)
{
	static uint64_t x[32], found[32];

	for (unsigned i = 1; i < 31; i++)
		x[i] = word_of(round, 1000 + i);
	victim_spin(x, found, SPINS);
	for (unsigned i = 1; i < 31; i++)
		if (found[i] != x[i])
			victim_wrong("integer register", found[i], x[i]);
	trap_state(word_of(round, 2000));
	marks_put(round + 1);
	let_others_run();
	wrong += marks_check(round + 1);
	csr_write(sie, 0);
	csr_write(CSR_STIMECMP, ~0UL);
	if (csr_read(sip))
		victim_wrong("sip", csr_read(sip), 0);
}

/* Its share, to a turn of each; and how long it waited for one turn. */
static void times(uint64_t others)
{
	uint64_t stolen = sbi_pmu(SBI_PMU_COUNTER_FW_READ, steal_ctr, 0, 0, 0, 0).value,
	         of = csr_read(time) - began, most = others * (SLICE + INTERRUPTION) + INTERRUPTION;

	if (stolen * (others + 1) > of * others + (others + 1) * most)
		victim_wrong("stolen ticks", stolen, of * others / (others + 1));
	if (longest_gap > most)
		victim_wrong("longest wait", longest_gap, most);
}

int victim(uint64_t hartid)
{
	bool counts = !bootarg_is("counts", "no");
	uint64_t rounds = bootarg_num("rounds", 3), others = bootarg_num("others", 0);
	struct counters c = find_counters();

	(void)hartid;
	csr_set(sstatus, 3UL << 13 | (with_vectors() ? SSTATUS_VS : 0));
	wrong += marks_left_by_others();
	fill();
	if (counts) {
		steal_ctr = pmu_config(c.fw, 0, STEAL_TICKS).value;
		pmu_start(BIT(steal_ctr), 0);
		c.fw &= ~BIT(steal_ctr);
	}
	began = last_time = csr_read(time);
	for (uint64_t round = 0; round < rounds; round++) {
		if (counts) {
			victim_counts(c.hw, round);
			victim_firmware_counts(c.fw, round);
		}
		memory(round);
		registers(round);
		if (counts)
			times(others);
		print("victim: round %u\n", round);
	}
	print("victim: ends, %u wrong\n", wrong);
	return wrong ? 1 : 0;
}
