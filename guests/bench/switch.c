/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost of a world switch, depending on live counters and on the number of VMs on the hart. All
 * VMs run this: `role=first` measures and prints, `role=other` does the same without printing,
 * `role=plain` as well but without counters, and `role=sleeper` waits for a timer that is far away.
 * Those that are awake give the hart away with wrs.nto, which ends a time slice. Each time the next
 * VM continues, in a circle, so `rounds` times `awake` switches happen while the first one
 * measures.
 *
 * Two periods are timed, the second twice as long as the first. Their difference contains neither
 * beginning nor end, and `time` ticks every 100 instructions.
 */
#include "guests/bench/bench.h"

#define FAR  0x8000000000000001UL
#define NEAR (-(1UL << 40))

/* Tally's own events, see docs/events.md. */
#define EXITS_TIMER     258UL
#define HS_INSTRUCTIONS 265UL

static uint64_t hw, fw; /* masks of counters */
static bool first, counts;

/* What is live at the same time: so many of `events`, and counters that share with them. */
static const struct phase {
	const char *name;
	uint64_t events, sharers, value;
} phases[] = {
    {"live-0", 0, 0, FAR},   {"live-1", 1, 0, FAR},   {"live-2", 2, 0, FAR},
    {"live-3", 3, 0, FAR},   {"live-4", 4, 0, FAR},   {"live-5", 5, 0, FAR},
    {"shared-6", 5, 1, FAR}, {"shared-8", 5, 3, FAR}, {"shared-16", 5, 11, FAR},
    {"armed-1", 1, 0, NEAR}, {"armed-2", 2, 0, NEAR},
};
/* Bits of `phases=` on bootargs: one for each of the above, and these. */
#define PHASES      (sizeof(phases) / sizeof(phases[0]))
#define PHASE_SLICE BIT(PHASES)
#define PHASE_WAKE  BIT(PHASES + 1)

static const uint64_t events[] = {1, 2, 0x10019, 0x1001b, 0x10021};

/* The counters of each VM have other values than those of the others. */
static uint64_t start_live(const struct phase *phase)
{
	uint64_t live = 0;

	for (uint64_t i = 0; i < phase->events + phase->sharers; i++) {
		uint64_t event = i < phase->events ? events[i] : events[i & 1];
		struct sbiret r = pmu_config(hw & ~live, 0, event);

		if (r.error || pmu_start(BIT(r.value), phase->value + (bootarg_num("vm", 0) << 20)))
			print("switch: %s: counter %u is refused\n", phase->name, i);
		live |= BIT(r.value);
	}
	return live;
}

/* Executes three instructions each, including the loop. */
static void yield(uint64_t times)
{
	__asm__ volatile("1:	.word	0x00d00073\n" /* wrs.nto */
	                 "	addi	%0, %0, -1\n"
	                 "	bnez	%0, 1b\n"
	                 : "+r"(times)::"memory");
}

/* Prints a line in the format of bench(). */
static void say(const char *name, uint64_t tenths)
{
	if (first)
		print("bench %s %u\n", name, tenths);
}

static void bench_phase(const struct phase *phase, uint64_t rounds, uint64_t awake)
{
	uint64_t live = counts ? start_live(phase) : 0, start, middle, end;

	yield(10);
	start = csr_read(time);
	yield(rounds);
	middle = csr_read(time);
	yield(2 * rounds);
	end = csr_read(time);
	/* The others may be one slice ahead, and must do the same until the end. */
	yield(10);
	if (live) {
		pmu_stop(live);
		pmu_reset(live);
	}
	say(phase->name, ((end - middle) - (middle - start)) * 1000 / (rounds * awake));
}

/* Counts an event of Tally. */
static uint64_t count(uint64_t code)
{
	struct sbiret r = pmu_config(fw, 0, SBI_PMU_TYPE_FW << 16 | code);

	if (r.error || pmu_start(BIT(r.value), 0))
		print("switch: event %u is refused\n", code);
	return r.value;
}

static uint64_t fw_read(uint64_t ctr)
{
	return sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr, 0, 0, 0, 0).value;
}

static bool passed(uint64_t ticks)
{
	return csr_read(time) >= ticks;
}

static void spin_until(uint64_t ticks)
{
	while (!passed(ticks))
		for (volatile unsigned i = 0; i < 1000; i++)
			;
}

/* Waits until another slice of this VM begins, while all VMs spin, so that none ends soon. */
static void await_turn(void)
{
	uint64_t last, now = csr_read(time);

	do {
		last = now;
		now = csr_read(time);
	} while (now - last < 1000);
}

/* Prints the instructions in HS per time slice, while all VMs spin. */
static void bench_slice(uint64_t awake)
{
	uint64_t insns = count(HS_INSTRUCTIONS), exits = count(EXITS_TIMER);
	uint64_t insns_at[3], exits_at[3], slices, begin = csr_read(time), span = 200000 * awake;

	for (uint64_t i = 0; i < 3; i++) {
		spin_until(begin + i * i * span);
		await_turn();
		insns_at[i] = fw_read(insns);
		exits_at[i] = fw_read(exits);
	}
	slices = (exits_at[2] - exits_at[1]) - (exits_at[1] - exits_at[0]);
	if (slices)
		say("slice",
		    ((insns_at[2] - insns_at[1]) - (insns_at[1] - insns_at[0])) * 10 / slices);
	pmu_reset(BIT(insns) | BIT(exits));
	/* No VM may end before the first one has finished. */
	if (!first)
		spin_until(begin + 5 * span);
}

/* Interrupts are off, so WFI ends without a trap. */
static void sleep(uint64_t ticks)
{
	csr_write(0x14d, csr_read(time) + ticks); /* stimecmp */
	__asm__ volatile("wfi");
}

/* Prints the instructions in HS for putting a vcpu to sleep and waking it by its timer, while no
 * other vcpu is awake. */
static void bench_wake(uint64_t rounds)
{
	uint64_t insns = count(HS_INSTRUCTIONS), at[3];

	csr_set(sie, IRQ_TIMER);
	sleep(100);
	at[0] = fw_read(insns);
	for (uint64_t i = 0; i < rounds; i++)
		sleep(100);
	at[1] = fw_read(insns);
	for (uint64_t i = 0; i < 2 * rounds; i++)
		sleep(100);
	at[2] = fw_read(insns);
	csr_clear(sie, IRQ_TIMER);
	if (rounds)
		say("wake", ((at[2] - at[1]) - (at[1] - at[0])) * 10 / rounds);
	pmu_reset(BIT(insns));
}

void bench_switch(uint64_t hw_mask, uint64_t fw_mask)
{
	uint64_t rounds = bootarg_num("rounds", 100), awake = bootarg_num("awake", 1);
	uint64_t wanted = bootarg_num("phases", 0);

	hw = hw_mask;
	fw = fw_mask;
	first = bootarg_is("role", "first");
	counts = !bootarg_is("role", "plain");
	if (bootarg_is("role", "sleeper")) {
		csr_set(sie, IRQ_TIMER);
		sleep(bootarg_num("ticks", 0));
		return;
	}
	for (unsigned i = 0; i < PHASES; i++)
		if (wanted & BIT(i))
			bench_phase(&phases[i], rounds, awake);
	if (wanted & PHASE_SLICE)
		bench_slice(awake);
	if (wanted & PHASE_WAKE)
		bench_wake(rounds);
}
