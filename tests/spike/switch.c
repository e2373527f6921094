/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two vcpus on one hart count the same two events through a thousand world switches, at points that
 * a timer chooses. Every count must be the known length of the guest, exactly.
 */
#include "tests/spike/spike.h"

#define SWITCHES 1000

struct vcpu {
	struct ctx ctx;
	uint64_t length; /* instructions from first to last */
	uint64_t start[2];
	uint64_t value[2];
	uint64_t entries;
};

static const uint32_t ctrs[2] = {CTR_CYCLES, CTR_INSTR};
static const uint64_t both = (1UL << CTR_CYCLES) | (1UL << CTR_INSTR);

/* Runs the vcpu until the timer, or its end. Its counters are started before and stopped
 * afterwards. */
static uint64_t run(const struct way *way, struct vcpu *v, uint64_t ticks, bool resume, bool *ok)
{
	uint64_t cause;

	if (resume)
		*ok &= way->resume(both, false);
	else
		for (int i = 0; i < 2; i++)
			*ok &= way->start(ctrs[i], v->value[i], false);
	for (uint32_t spin = rnd(100); spin; spin--)
		__asm__ volatile("nop");
	cause = guest_run(&v->ctx, ticks);
	*ok &= way->stop(both);
	for (int i = 0; i < 2; i++)
		v->value[i] = hpm_read(ctrs[i]);
	v->entries++;
	return cause;
}

void test_switch(const struct way *way)
{
	static struct vcpu vcpus[2];
	struct vcpu *last = NULL;
	bool ok = true, timer = true, ended = true;
	unsigned switches = 0, resumes = 0;

	guest_init(&vcpus[0].ctx, guest_loop, 2000000);
	vcpus[0].length = 2 * 2000000 + 1;
	guest_init(&vcpus[1].ctx, guest_mem_loop, 1000000);
	vcpus[1].length = 4 * 1000000 + 1;
	/* A simple start, the value of a generic "longest period" guest, and two unusual ones. */
	vcpus[0].start[0] = 0;
	vcpus[0].start[1] = 0x8000000000000001UL;
	vcpus[1].start[0] = 0x123456789abcdefUL;
	vcpus[1].start[1] = 0x7fff000000000000UL;
	for (int i = 0; i < 2; i++) {
		vcpus[i].value[0] = vcpus[i].start[0];
		vcpus[i].value[1] = vcpus[i].start[1];
		vcpus[i].entries = 0;
	}
	ok &= way->config(CTR_CYCLES, 0x1);
	ok &= way->config(CTR_INSTR, 0x2);
	while (switches < SWITCHES) {
		/* Usually the other one; sometimes the same again, without a switch. */
		struct vcpu *v = last == &vcpus[0] ? &vcpus[1] : &vcpus[0];
		bool resume = last && rnd(8) == 0;

		if (resume)
			v = last;
		resumes += resume;
		switches += !resume;
		timer &= run(way, v, 1 + rnd(60), resume, &ok) == CAUSE_TIMER;
		last = v;
	}
	for (int i = 0; i < 2; i++)
		ended &= run(way, &vcpus[i], 0, false, &ok) == CAUSE_VSECALL;
	print("%s: %u world switches, %u resumes, entries %u + %u\n", way->name, (uint64_t)switches,
	      (uint64_t)resumes, vcpus[0].entries, vcpus[1].entries);
	for (int i = 0; i < 2; i++)
		print("%s: vcpu %u cycles %u instructions %u of %u\n", way->name, (uint64_t)i,
		      vcpus[i].value[0] - vcpus[i].start[0], vcpus[i].value[1] - vcpus[i].start[1],
		      vcpus[i].length);
	check(ok, "every counter call succeeded");
	check(timer, "every slice ended by the timer");
	check(ended, "both guests ran to their end");
	check_eq(vcpus[0].value[0] - vcpus[0].start[0], vcpus[0].length, "vcpu 0 cycles exact");
	check_eq(vcpus[0].value[1] - vcpus[0].start[1], vcpus[0].length,
	         "vcpu 0 instructions exact");
	check_eq(vcpus[1].value[0] - vcpus[1].start[0], vcpus[1].length, "vcpu 1 cycles exact");
	check_eq(vcpus[1].value[1] - vcpus[1].start[1], vcpus[1].length,
	         "vcpu 1 instructions exact");
	way->release(CTR_CYCLES);
	way->release(CTR_INSTR);
}
