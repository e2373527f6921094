/* SPDX-License-Identifier: Apache-2.0 */
/*
 * budget: computes for `ticks=`, and tells when it was away and how many instructions it had
 * counted each time it was back, with `flags=` of config_matching, `own=no`: without a counter of
 * its own.
 *
 * dodge: tries to have more than its budget: `how=` says by which calls. It prints what it executed
 * in `ticks=`, by a loop of known length. lives, stops: the same by ends of the VM, and of a vcpu.
 */
#include "guests/bare/smp.h"

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

static volatile uint64_t pulse;

/* Review: vcpu 1 ends the VM with the very instruction that spends its budget. */
static void dying(uint64_t hartid, struct smp_vcpu *self)
{
	uint64_t n = bootarg_num("n", 0), k = bootarg_num("k", 0);
	uint64_t stop = bootarg_num("stop", 0);
	register uint64_t a0 __asm__("a0") = 0;
	register uint64_t a1 __asm__("a1") = 1;
	register uint64_t a6 __asm__("a6") = stop;
	register uint64_t a7 __asm__("a7") = stop ? SBI_EXT_HSM : SBI_EXT_SRST;

	(void)hartid;
	(void)self;
	__asm__ volatile(".option push\n.option norvc\n"
			 "la t3, 4f\n"
			 "slli t4, %1, 2\n"
			 "sub t3, t3, t4\n"
			 "rdtime t0\n"
			 "1: rdtime t1\n"
			 "sub t2, t1, t0\n"
			 "mv t0, t1\n"
			 "bltu t2, %2, 1b\n"
			 "2: addi %0, %0, -1\n"
			 "bnez %0, 2b\n"
			 "jr t3\n"
			 ".rept 64\n nop\n .endr\n"
			 "4: ecall\n"
			 "5: ld t0, (%3)\n"
			 "addi t0, t0, 1\n"
			 "sd t0, (%3)\n"
			 "j 5b\n"
			 ".option pop\n"
			 : "+r"(n)
			 : "r"(k), "r"(5000000UL), "r"(&pulse), "r"(a0), "r"(a1), "r"(a6), "r"(a7)
			 : "t0", "t1", "t2", "t3", "t4", "memory");
}

int zombie(uint64_t hartid)
{
	(void)hartid;
	if (bootarg_num("stop", 0))
		smp_start(1, dying);
	sleep_for(35000000);
	print("zombie: pulse %u, vcpu 1 is in state %u\n", pulse,
	      hsm(SBI_HSM_HART_GET_STATUS, 1, 0, 0).value);
	if (bootarg_num("stop", 0))
		return 0;
	smp_start(1, dying);
	sleep_for(100000000);
	return 0;
}

/* Review: asks for a restart of beta, and tells the answer and, a second later, its state. */
int once_more(uint64_t hartid)
{
	struct sbiret r;

	(void)hartid;
	sleep_for(1000000);
	r = sbi_call(SBI_EXT_TALLY, SBI_TALLY_RESTART, 0x61746562, 0, 0, 0, 0, 0);
	sleep_for(15000000);
	print("again: error %d, state %u\n", r.error,
	      sbi_call(SBI_EXT_TALLY, SBI_TALLY_VM_STATE, 0x61746562, 0, 0, 0, 0, 0).value & 255);
	return 0;
}
