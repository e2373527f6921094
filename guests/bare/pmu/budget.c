/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget: computes for `ticks=`, and tells when it was away and how many instructions it had
 * counted each time it was back, with `flags=` of config_matching, `own=no`: without a counter of
 * its own.
 *
 * dodge: tries to have more than its budget: `how=` says by which calls. It prints what it executed
 * in `ticks=`, by a loop of known length. lives, stops: the same by ends of the VM, and of a vcpu.
 */
#include "guests/bare/vcpu/smp.h"

#define STEAL_TICKS     266UL /* docs/events.md */
#define THROTTLED_TICKS 271UL
#define AWAY            500UL /* ticks: longer than a look, a round of the loop, and a switch */

static uint64_t fw_begin(uint64_t *fw, uint64_t code)
{
	struct sbiret r = pmu_config(*fw, 0, SBI_PMU_TYPE_FW << 16 | code);

	if (r.error || pmu_start(BIT(r.value), 0))
		return ~0UL;
	*fw &= ~BIT(r.value);
	return r.value;
}

static uint64_t fw_value(uint64_t ctr)
{
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0).value;
}

struct spans {
	uint64_t times, away, longest, least, most;
};

static void note(struct spans *s, uint64_t gap, uint64_t counted)
{
	s->times++;
	s->away += gap;
	if (gap > s->longest)
		s->longest = gap;
	/* The first one began somewhere in a period. */
	if (s->times == 1)
		return;
	if (counted < s->least)
		s->least = counted;
	if (counted > s->most)
		s->most = counted;
}

static void compute(struct spans *s, bool own, uint32_t ctr)
{
	uint64_t last = csr_read(time), since = 0;

	while (last < end_time) {
		uint64_t now, count;

		for (volatile unsigned i = 0; i < 10; i++)
			;
		now = csr_read(time);
		if (now - last >= AWAY) {
			count = own ? counter_read(ctr) : 0;
			note(s, now - last, count - since);
			since = count;
			now = csr_read(time);
		}
		last = now;
	}
}

int budget(uint64_t hartid)
{
	struct counters all = find_counters();
	uint64_t steal = fw_begin(&all.fw, STEAL_TICKS),
	         throttled = fw_begin(&all.fw, THROTTLED_TICKS);
	bool own = bootarg_num("own", 1);
	struct spans s = {.least = ~0UL};
	struct sbiret r = {0, 0};
	uint64_t begin = csr_read(time);

	(void)hartid;
	if (own) {
		r = pmu_config(all.hw, bootarg_num("flags", 0), EVENT_INSTRUCTIONS);
		if (r.error || pmu_start(BIT(r.value), 0)) {
			print("budget: refused: %d\n", r.error);
			return 1;
		}
	}
	compute(&s, own, (uint32_t)r.value);
	print("budget: away %u times, %u of %u ticks", s.times, s.away, csr_read(time) - begin);
	print(", longest %u", s.longest);
	print("; steal %u, throttled %u", fw_value(steal), fw_value(throttled));
	print("; between %u to %u\n", s.least, s.most);
	return 0;
}

/* 2 * n instructions. */
static void work(uint64_t n)
{
	__asm__ volatile("1: addi %0, %0, -1\n"
	                 "bnez %0, 1b"
	                 : "+r"(n));
}

/* Whatever a guest may do to its counters. */
static void with_counters(uint64_t hw)
{
	struct sbiret r = pmu_config(hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_INSTRUCTIONS);

	pmu_stop(BIT(r.value));
	pmu_start(BIT(r.value), 0);
	pmu_config(hw, SBI_PMU_CFG_FLAG_CLEAR_VALUE | SBI_PMU_CFG_FLAG_SKIP_MATCH,
	           EVENT_INSTRUCTIONS);
	pmu_start(hw, 0);
	pmu_stop(hw);
	pmu_reset(hw);
	csr_write(scounteren, 0);
}

/* All of its counters, by every event that it may count, near their wraps. */
static void with_samples(uint64_t hw)
{
	for (uint64_t event = 1; event <= 2; event++)
		for (uint64_t flags = 0; flags <= 0x60; flags += 0x20) {
			struct sbiret r = pmu_config(hw, flags, event);

			if (!r.error)
				pmu_start(BIT(r.value), -50UL);
		}
	work(100);
	pmu_reset(hw);
}

static void sleep_by_suspend(void)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + 100, 0, 0, 0, 0, 0);
	csr_set(sie, IRQ_TIMER);
	sbi_call(SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, 0, 0, 0, 0, 0, 0);
	csr_clear(sie, IRQ_TIMER);
}

#define WORK 500UL

int dodge(uint64_t hartid)
{
	struct counters all = find_counters();
	uint64_t rounds = 0, begin = csr_read(time);

	(void)hartid;
	for (; !time_is_up(); rounds++) {
		work(WORK);
		if (bootarg_is("how", "counters"))
			with_counters(all.hw);
		else if (bootarg_is("how", "samples"))
			with_samples(all.hw);
		else if (bootarg_is("how", "suspend"))
			sleep_by_suspend();
		else if (bootarg_is("how", "wfi"))
			sleep_for(100);
	}
	print("dodge: at least %u instructions in %u ticks\n", rounds * 2 * WORK,
	      csr_read(time) - begin);
	return 0;
}

/* Returns the instructions up to the next time that it is away. */
static uint64_t until_away(uint32_t ctr)
{
	uint64_t from = counter_read(ctr), last = csr_read(time), now;

	for (;; last = now) {
		now = csr_read(time);
		if (now - last >= AWAY)
			return counter_read(ctr) - from;
		work(10);
	}
}

/* Spends one budget, and of the next one `used=`, then fails. So its next life in the same period
 * has the rest of that. */
int budget_lives(uint64_t hartid)
{
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);

	(void)hartid;
	pmu_start(BIT(r.value), 0);
	print("lives: %u instructions left\n", until_away((uint32_t)r.value));
	work(bootarg_num("used", 0) / 2);
	return 1;
}

static volatile uint64_t stopped;

/* Vcpu 1, in its first life, spends its budget and `used=` of the next one, and stops. In its next
 * life it counts what is left. */
static void spender(uint64_t hartid, struct smp_vcpu *self)
{
	struct sbiret r = pmu_config(find_counters().hw, 0, EVENT_INSTRUCTIONS);

	(void)hartid;
	pmu_start(BIT(r.value), 0);
	self->values[stopped] = until_away((uint32_t)r.value);
	if (!stopped++)
		work(bootarg_num("used", 0) / 2);
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

/* Vcpu 0 sleeps meanwhile, because a turn of its own would be a gap, too. */
int budget_stops(uint64_t hartid)
{
	(void)hartid;
	for (uint64_t n = 1; n <= 2; n++) {
		smp_start(1, spender);
		sleep_for(bootarg_num("sleep", 0));
		if (!smp_await_state(1, SBI_HSM_STATE_STOPPED) || stopped != n)
			return 1;
		print("stops: %u instructions left\n", smp_vcpus[1].values[n - 1]);
	}
	return 0;
}
