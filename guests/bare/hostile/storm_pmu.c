/* SPDX-License-Identifier: Apache-2.0 */
/* The longest PMU calls: all counters at once, and overflows without end. */
#include "guests/bare/bare.h"

#define CLEAR SBI_PMU_CFG_FLAG_CLEAR_VALUE
#define AUTO  SBI_PMU_CFG_FLAG_AUTO_START
#define SKIP  SBI_PMU_CFG_FLAG_SKIP_MATCH

static volatile uint64_t overflows;

static void start_all(uint64_t mask, uint64_t value)
{
	pmu_start(mask, value);
	pmu_start(~0UL, value);
}

/* Configures every event that a counter accepts: first hardware events on all indices, shared, then
 * the others. */
static void configure_all(uint64_t mask, uint64_t n)
{
	static const uint64_t flags[] = {0, CLEAR, CLEAR | AUTO, AUTO};

	for (uint64_t left = mask; left; left &= left - 1) {
		uint64_t event = EVENT_CYCLES + (left & n & 1);

		if (pmu_config(mask, flags[n % 4], event).error &&
		    pmu_config(mask, flags[n % 4], 0xf0000 + n % 22).error)
			pmu_config(mask, flags[n % 4], 0x10019);
	}
}

static void masks(uint64_t all)
{
	for (uint64_t n = 0; n < 24; n++) {
		configure_all(all, n);
		start_all(all, n & 1 ? -(n * 100 + 1) : 0x8000000000000001UL + n);
		pmu_config(all, SKIP | CLEAR, EVENT_INSTRUCTIONS);
		pmu_stop(n & 2 ? ~0UL : all);
		start_all(all, 0);
		pmu_reset(all);
		pmu_reset(~0UL);
	}
}

/* Starts as many counters as possible of one event together, one count before the wrap. */
static void shared_wraps(uint64_t hw)
{
	for (uint64_t n = 0; n < 50; n++) {
		uint64_t mine = 0;

		for (uint64_t left = hw; left; left &= left - 1) {
			struct sbiret r =
			    pmu_config(left, 0, n & 1 ? EVENT_INSTRUCTIONS : EVENT_CYCLES);

			mine |= r.error ? 0 : BIT(r.value);
		}
		pmu_start(mine, -(n * 7 + 1));
		csr_set(sstatus, SSTATUS_SIE);
		for (uint64_t left = mine; left; left &= left - 1)
			pmu_start(left & -left, -(left % 300 + 1));
		csr_clear(sstatus, SSTATUS_SIE);
		pmu_reset(hw);
	}
}

static uint64_t again_mask;

static void on_overflow(struct trap_frame *frame)
{
	(void)frame;
	overflows++;
	csr_clear(sip, IRQ_LCOFI);
	if (overflows % 1000 == 0)
		return;
	pmu_stop(again_mask);
	pmu_start(again_mask, -(overflows % 50 + 1));
}

/* The handler starts the counter a few instructions before its next wrap. */
static void overflow_storm(uint64_t hw)
{
	struct sbiret r = pmu_config(hw, 0, EVENT_INSTRUCTIONS);

	if (r.error)
		return;
	again_mask = BIT(r.value);
	pmu_start(again_mask, -1UL);
	csr_set(sstatus, SSTATUS_SIE);
	for (volatile uint64_t i = 0; i < 2000 && overflows < 1000; i++)
		;
	csr_clear(sstatus, SSTATUS_SIE);
	pmu_reset(hw);
}

void storm_pmu(void)
{
	struct counters c = find_counters();

	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	masks(c.hw | c.fw | 5);
	shared_wraps(c.hw);
	overflow_storm(c.hw);
	csr_clear(sie, IRQ_LCOFI);
	irq_handle_by(0);
	print("storm: %u overflows\n", overflows);
}
