/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a running counter `reads=` times, 1,000 in a row at a time, and checks that each value is
 * `step=` more than the one before: 5, whether reads trap or not. Tally's last line of this guest
 * says how many exits it took.
 *   mode=s, u       where it reads; mode=closed: in U, while scounteren forbids it
 *   which=own       the index that the firmware chose
 *   which=shared    another index that counts the same event
 *   which=stopped   the one that the firmware chose, stopped
 */
#include "guests/bare/bare.h"

#define IN_A_ROW 1000UL
#define FIRST    0x8000000000000001UL

struct user_reads {
	reads_t reads;
	uint64_t *values;
	uint64_t n;
};
void user_reads(void);

static uint64_t values[IN_A_ROW];

static void read_all(uint32_t ctr, bool user)
{
	struct user_reads args = {reads_of(ctr), values, IN_A_ROW};

	if (user)
		user_run(user_reads, (uint64_t)&args, 0);
	else
		args.reads(values, IN_A_ROW);
}

/* Returns how many values are not `step` more than the one before. The first has `before` before
 * it. */
static uint64_t odd_values(uint64_t before, uint64_t step)
{
	uint64_t odd = values[0] < before;

	for (uint64_t i = 1; i < IN_A_ROW; i++)
		odd += values[i] - values[i - 1] != step;
	return odd;
}

/* Returns how many of the reads in U trap, with scounteren 0, and with all its bits set but this
 * one. */
static uint64_t closed(uint32_t ctr, uint64_t reads)
{
	uint64_t illegal = 0;

	for (uint64_t i = 0; i < reads; i++) {
		struct trap_seen seen;

		csr_write(scounteren, i & 1 ? 0xffffffff & ~BIT(ctr) : 0);
		trap_guard();
		user_run(user_call, 0, (uint64_t)read_of(ctr));
		seen = trap_unguard();
		illegal += seen.cause == CAUSE_ILLEGAL && seen.count == 1;
	}
	return illegal;
}

/* Returns the counter to read, running or stopped as requested. 0: there is none. */
static uint32_t prepare(void)
{
	uint64_t hw = find_counters().hw;
	struct sbiret r = pmu_config(hw, 0, EVENT_INSTRUCTIONS);
	uint32_t ctr = (uint32_t)r.value;

	if (r.error || pmu_start(BIT(ctr), FIRST))
		return 0;
	if (bootarg_is("which", "stopped"))
		return pmu_stop(BIT(ctr)) ? 0 : ctr;
	if (!bootarg_is("which", "shared"))
		return ctr;
	r = pmu_config(hw & ~BIT(ctr), 0, EVENT_INSTRUCTIONS);
	return r.error || pmu_start(BIT(r.value), FIRST) ? 0 : (uint32_t)r.value;
}

int reads_kind(uint64_t hartid)
{
	uint64_t n = bootarg_num("reads", IN_A_ROW), odd = 0, before = FIRST;
	uint64_t step = bootarg_num("step", 5);
	bool user = !bootarg_is("mode", "s");
	uint32_t ctr = prepare();

	(void)hartid;
	if (!ctr) {
		print("reads: no counter\n");
		return 1;
	}
	if (bootarg_is("mode", "closed")) {
		odd = closed(ctr, n);
		print("reads: ends, %u illegal\n", odd);
		return odd == n ? 0 : 1;
	}
	csr_write(scounteren, BIT(ctr));
	for (uint64_t i = 0; i < n; i += IN_A_ROW) {
		read_all(ctr, user);
		odd += odd_values(before, step);
		before = values[IN_A_ROW - 1];
	}
	/* The length of the line does not depend on the number, so that printing takes the same
	 * exits. */
	print("reads: ends, %u odd\n", odd);
	return odd ? 1 : 0;
}
