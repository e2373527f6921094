/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling with snapshots: the handler stops the counter with TAKE_SNAPSHOT, finds value and OF in
 * shared memory, writes the next start value there, and starts with INIT_SNAPSHOT. Then the start
 * that Linux makes instead (6.12: its base is 64 * 64).
 */
#include "guests/sampling/sampling.h"

#define ROUNDS  1000000UL
#define PERIOD  1000UL
#define SAMPLES 1000UL

static struct {
	uint64_t flags;
	uint64_t value[64];
	uint64_t rest[447];
} page __attribute__((aligned(4096)));

static uint32_t ctr;
static uint64_t taken, since, wrong, linux_error, linux_start;

static void on_overflow(struct trap_frame *f)
{
	uint64_t now = user_position(f, ROUNDS);

	taken++;
	wrong += now - since != PERIOD;
	since = now;
	wrong +=
	    !!sbi_pmu(SBI_PMU_COUNTER_STOP, ctr, 1, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT, 0, 0).error;
	wrong += page.flags != 1 || page.value[0] != 0;
	csr_clear(sip, IRQ_LCOFI);
	page.value[0] = -PERIOD;
	if (taken == SAMPLES && !linux_start)
		return;
	if (linux_start) {
		linux_error = (uint64_t)sbi_pmu(SBI_PMU_COUNTER_START, 64UL * 64, BIT(0),
		                                SBI_PMU_START_FLAG_INIT_SNAPSHOT, 0, 0)
		                  .error;
		return;
	}
	wrong +=
	    !!sbi_pmu(SBI_PMU_COUNTER_START, ctr, 1, SBI_PMU_START_FLAG_INIT_SNAPSHOT, 0, 0).error;
}

static void start(void)
{
	taken = 0;
	since = 0;
	page.value[0] = -PERIOD;
	wrong +=
	    !!sbi_pmu(SBI_PMU_COUNTER_START, ctr, 1, SBI_PMU_START_FLAG_INIT_SNAPSHOT, 0, 0).error;
}

int snapshot(void)
{
	if (sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, (uint64_t)&page, 0, 0, 0, 0).error) {
		print("snapshot: refused\n");
		return 1;
	}
	ctr = configure(hw_counters(), SINH, EVENT_INSTRUCTIONS);
	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	start();
	user_run(user_code, ROUNDS, 0);
	print("snapshot: %u samples, %u wrong\n", taken, wrong);
	linux_start = 1;
	start();
	user_run(user_code, ROUNDS, 0);
	print("snapshot: base 4096: error %d, %u samples, counter %d\n", linux_error, taken,
	      counter_read(ctr));
	return wrong != 0;
}
