/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the sequence, then compares the results. Prints a line for each difference, and a
 * summary. */
#include "guests/replay/replay.h"

#include <stdbool.h>

#include "guests/lib/guest.h"
#include "guests/lib/print.h"
#include "guests/lib/sbi.h"

#define MAX_STEPS    16384
#define SHOWN        40 /* differences printed */
#define WINDOW       ((volatile uint64_t *)0x80000000UL)
#define WINDOW_BYTES 0x10000UL

static struct replay_result results[MAX_STEPS];

static const char *const names[REPLAY_KINDS] = {
    "call", "run", "user", "read", "scountovf", "sip.LCOFIP", "poke", "peek",
};

/* Whether the sequence was made for the costs of this program. */
static bool is_for_us(void)
{
	static const char magic[8] = {'T', 'A', 'L', 'L', 'Y', 'S', 'E', 'Q'};

	for (int i = 0; i < 8; i++)
		if (sequence.magic[i] != magic[i])
			return false;
	for (int i = 0; i < REPLAY_COSTS; i++) {
		if (sequence.costs[i] != replay_costs[i]) {
			print("cost %u: %u instructions, the sequence counts on %u\n", (uint64_t)i,
			      replay_costs[i], sequence.costs[i]);
			return false;
		}
	}
	return sequence.version == 1 && sequence.step_size == sizeof(struct replay_step) &&
	       sequence.n <= MAX_STEPS;
}

static bool is_compared(uint64_t kind)
{
	return kind != REPLAY_RUN && kind != REPLAY_USER && kind != REPLAY_POKE;
}

/* The value returned by a failed call has no meaning. */
static bool agrees(const struct replay_step *step, const struct replay_result *result)
{
	if (result->got[0] != step->want[0])
		return false;
	if (step->kind == REPLAY_CALL && step->want[0])
		return true;
	return result->got[1] == step->want[1];
}

static void show(uint64_t i)
{
	const struct replay_step *s = &sequence.steps[i];

	print("FAIL step %u: %s(0x%x, 0x%x", i, names[s->kind], s->a[0], s->a[1]);
	print(", 0x%x, 0x%x, 0x%x", s->a[2], s->a[3], s->a[4]);
	print(") fid %u: got %d, 0x%x", s->a[5], results[i].got[0], results[i].got[1]);
	print(", want %d, 0x%x\n", s->want[0], s->want[1]);
}

int guest_main(uint64_t hartid)
{
	uint64_t passed = 0, failed = 0, counts[REPLAY_KINDS] = {0};

	(void)hartid;
	if (!is_for_us()) {
		print("the sequence is not for this program\n0 passed, 1 failed\n");
		return 1;
	}
	for (uint64_t i = 0; i < WINDOW_BYTES / 8; i++)
		WINDOW[i] = 0;
	replay_run(sequence.steps, results, sequence.n);
	/* Nothing that the sequence started may interrupt what follows. */
	sbi_pmu(SBI_PMU_COUNTER_STOP, 0, 0x7fffffffdUL, SBI_PMU_STOP_FLAG_RESET, 0, 0);
	for (uint64_t i = 0; i < sequence.n; i++) {
		const struct replay_step *step = &sequence.steps[i];

		counts[step->kind]++;
		if (!is_compared(step->kind))
			continue;
		if (agrees(step, &results[i])) {
			passed++;
			continue;
		}
		if (failed++ < SHOWN)
			show(i);
	}
	for (int kind = 0; kind < REPLAY_KINDS; kind++)
		print("%s: %u steps\n", names[kind], counts[kind]);
	print("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
