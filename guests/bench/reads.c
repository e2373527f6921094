/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads of counters and of scountovf. Each is a function of two instructions, `csrr` and `ret`, and
 * the empty operation is `ret`. So a row is the cost of the read itself, which is 1 if it does not
 * trap.
 */
#include "guests/bench/bench.h"

#define CYCLES 1UL
#define FAR    0x8000000000000001UL
#define NONE   (~0UL)

static void read_cycle(void)
{
	__asm__ volatile("csrr a0, cycle" ::: "a0");
}

static void read_instret(void)
{
	__asm__ volatile("csrr a0, instret" ::: "a0");
}

/* The type fits any counter, though it ignores the value. */
operation_t read_op(uint64_t ctr)
{
	if (ctr < 3)
		return ctr ? read_instret : read_cycle;
	return (operation_t)read_of((uint32_t)ctr);
}

static void read_scountovf(void)
{
	__asm__ volatile("csrr a0, 0xda0" ::: "a0");
}

/* Counts cycles on another counter. Returns its index, NONE if there is no other. */
static uint64_t count_cycles(uint64_t hw)
{
	struct sbiret r = pmu_config(hw, SBI_PMU_CFG_FLAG_SET_UINH, CYCLES);

	if (r.error || pmu_start(BIT(r.value), FAR))
		return NONE;
	return r.value;
}

static void stop(uint64_t ctr)
{
	pmu_stop(BIT(ctr));
	pmu_reset(BIT(ctr));
}

static void bench_one(const char *name, operation_t read)
{
	bench(&(struct row){.name = name, .op = read});
}

/*
 * All counters, 18 on QEMU: three events have one hardware counter each, and the other counters
 * count two of these as well, cycles and instructions alternately.
 */
static operation_t many_reads[32];
static unsigned n_many;

static void read_many(void)
{
	for (unsigned i = 0; i < n_many; i++)
		many_reads[i]();
}

static void bench_many(uint64_t hw)
{
	static const uint64_t events[] = {CYCLES, EVENT_INSTRUCTIONS, 0x10019};
	uint64_t left = hw | BIT(0) | BIT(2), live = 0;

	/* Counters 0 and 2 are assigned to the last counter of their event. */
	for (n_many = 0; left; n_many++) {
		uint64_t event = n_many < 3 ? events[n_many] : events[n_many & 1];
		struct sbiret r = pmu_config(left, 0, event);

		if (r.error || r.value > 31 || pmu_start(BIT(r.value), FAR))
			break;
		live |= BIT(r.value);
		left &= ~BIT(r.value);
		many_reads[n_many] = read_op(r.value);
	}
	bench(&(struct row){.name = "read-many", .op = read_many, .rounds = 2000});
	pmu_stop(live);
	pmu_reset(live);
}

void bench_reads(uint64_t hw)
{
	uint64_t first = count_cycles(hw), second;

	if (first == NONE)
		return;
	bench_one("read-direct", read_op(first));
	/* KVM assigns counter 0, whatever the mask, and cannot do the rest. */
	if (!(BIT(first) & hw)) {
		stop(first);
		return;
	}
	/* The second counter of the same event shares the hardware counter, so its reads trap
	 * (Tally only). */
	second = count_cycles(hw);
	if (second != NONE) {
		trap_guard();
		bench_one("read-trapped", read_op(second));
		trap_unguard();
		stop(second);
	}
	bench_one("scountovf", read_scountovf);
	stop(first);
	bench_many(hw);
}

void bench_read_by_policy(uint64_t hw)
{
	uint64_t ctr = count_cycles(hw);

	if (ctr == NONE)
		return;
	bench_one("read-by-policy", read_op(ctr));
	stop(ctr);
}
