/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Overflows that are left standing: with its interrupts masked, `counters=` counters, each of its
 * own event, wrap once; with `wraps=no` none does. `stopped=yes` stops them then. Other guests run,
 * again and again, and after each time OF of all of them is 1, and a stopped counter has the value
 * that it had. `frame=` and `start=`, in ticks, are of the guest's windows: then it computes until
 * each has come, and says how late its first instruction was.
 */
#include "guests/sampling/sampling.h"

#define WRS_NTO ".word 0x00d00073" /* ends the time slice */

#define EVENTS 5U
static const uint64_t events[EVENTS] = {0x1, 0x2, 0x10019, 0x1001b, 0x10021};

static uint64_t value[EVENTS];
static uint32_t ctr[EVENTS];

/* At least one event of each kind. */
static void work(void)
{
	volatile char *memory = (volatile char *)0x80800000;

	for (uint64_t i = 0; i < 8; i++) {
		__asm__ volatile("sfence.vma" ::: "memory");
		memory[i * 4096] = 1;
		__asm__ volatile("sfence.vma" ::: "memory");
		(void)memory[i * 4096];
		sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0, 0);
	}
}

/* Nothing else takes so many ticks from the guest. */
#define AWAY 500U

static void wait_for_window(uint64_t frame, uint64_t start, uint64_t *latest)
{
	uint64_t before, now = csr_read(CSR_TIME);

	do {
		before = now;
		now = csr_read(CSR_TIME);
	} while (now - before < AWAY);
	now = now % frame - start;
	if (now > *latest)
		*latest = now;
}

int stand(void)
{
	uint64_t hw = hw_counters(), rounds = bootarg_num("rounds", 100), used = 0, flags,
	         wrong = 0, latest = 0;
	uint64_t frame = bootarg_num("frame", 0), start = bootarg_num("start", 0);
	uint64_t n = bootarg_num("counters", EVENTS);
	bool stopped = bootarg_is("stopped", "yes"), wraps = !bootarg_is("wraps", "no");

	for (unsigned i = 0; i < n; i++) {
		ctr[i] = configure(hw & ~used, 0, events[i]);
		used |= BIT(ctr[i]);
		if (!ctr[i] || pmu_start(BIT(ctr[i]), wraps ? -1UL : 0))
			return 1;
	}
	flags = wraps ? used : 0;
	while (own_flags(csr_read(CSR_SCOUNTOVF), used) != flags)
		work();
	if (stopped)
		wrong += pmu_stop(used) != 0;
	for (unsigned i = 0; i < n; i++)
		value[i] = counter_read(ctr[i]);
	for (uint64_t round = 0; round < rounds; round++) {
		if (frame)
			wait_for_window(frame, start, &latest);
		else
			__asm__ volatile(WRS_NTO);
		wrong += own_flags(csr_read(CSR_SCOUNTOVF), used) != flags;
		for (unsigned i = 0; i < n; i++) {
			uint64_t now = counter_read(ctr[i]);

			wrong += stopped ? now != value[i] : now < value[i];
			value[i] = now;
		}
	}
	print("stand: %u counters, %u rounds, %u wrong\n", n, rounds, wrong);
	if (frame)
		print("stand: late by %u ticks at most\n", latest);
	return wrong != 0;
}
