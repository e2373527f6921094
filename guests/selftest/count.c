/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of code whose length is known, in S and U, with each filter. */
#include "guests/selftest/selftest.h"

#include "guests/lib/csr.h"
#include "guests/lib/print.h"
#include "guests/lib/trap.h"

#define SINH         SBI_PMU_CFG_FLAG_SET_SINH
#define UINH         SBI_PMU_CFG_FLAG_SET_UINH
#define HALF_MILLION 500000UL

/* S code that calls U code, the same for every part of count_filter(), so that its length is one
 * number. */
static uint64_t mixed_work(uint32_t ctr)
{
	uint64_t before = counter_read(ctr);

	user_run(user_call, 1000, (uint64_t)segment_of(ctr));
	return counter_read(ctr) - before;
}

struct filtered {
	uint64_t s;     /* a segment in S */
	uint64_t u;     /* a segment in U, counted there */
	uint64_t mixed; /* S, with all of U in between */
};

static struct filtered count_filter(uint64_t event, uint64_t flags)
{
	struct filtered f = {~0UL, ~0UL, ~0UL};
	int ctr = config_any(event, flags, "11.8", "config_matching: with a filter");

	if (ctr < 0)
		return f;
	pmu_start(BIT(ctr), 0);
	csr_set(scounteren, BIT(ctr));
	f.s = segment_of((uint32_t)ctr)(HALF_MILLION);
	f.u = user_run(user_call, 1000, (uint64_t)segment_of((uint32_t)ctr));
	f.mixed = mixed_work((uint32_t)ctr);
	csr_clear(scounteren, BIT(ctr));
	reset_all();
	print("count event 0x%x flags 0x%x: S %u, U %u", event, flags, f.s, f.u);
	print(", S and U %u\n", f.mixed);
	return f;
}

/* Reports an exact number, known where each instruction takes one cycle. */
static void report_exact(uint64_t event, bool ok, const char *name)
{
	if (event == EVENT_CYCLES && !fw.cycles_are_instructions)
		report_skip("11.8", name, "an instruction is not a cycle here");
	else
		report(ok, "11.8", name);
}

/* Whether it is that many instructions. Cycles: whether there are some if there are
 * instructions. */
static bool is(uint64_t n, uint64_t event, uint64_t instructions)
{
	if (event == EVENT_CYCLES && !fw.cycles_are_instructions && instructions)
		return n > 0 && n != ~0UL;
	return n == instructions;
}

static void filters(uint64_t event, const char *const names[5])
{
	struct filtered both = count_filter(event, 0), s = count_filter(event, UINH),
	                u = count_filter(event, SINH), none = count_filter(event, SINH | UINH);

	report_exact(event, both.s == 2 * HALF_MILLION + 1 && both.u == 2001, names[0]);
	report(is(s.s, event, 2 * HALF_MILLION + 1) && s.u == 0, "11.8", names[1]);
	report(u.s == 0 && is(u.u, event, 2001) &&
	           is(u.mixed, event, USER_SEGMENT(1000) + fw.ecall_u),
	       "11.8", names[2]);
	report(none.s == 0 && none.u == 0 && none.mixed == 0, "11.8", names[3]);
	report_exact(event, s.mixed + u.mixed == both.mixed, names[4]);
}

static void hints(void)
{
	struct filtered f = count_filter(EVENT_INSTRUCTIONS, SBI_PMU_CFG_FLAG_SET_VUINH |
	                                                         SBI_PMU_CFG_FLAG_SET_VSINH |
	                                                         SBI_PMU_CFG_FLAG_SET_MINH);

	report(f.s == 2 * HALF_MILLION + 1 && f.u == 2001, "11.8",
	       "filters: VUINH, VSINH and MINH take nothing from S and U");
}

/* A single count, without repeated reads. */
static void once(uint64_t event, const char *name)
{
	int idx = config_any(event, 0, "11.8", "config_matching: to count once");
	uint64_t n;

	if (idx < 0)
		return;
	once_run(BIT(idx), 1000);
	n = counter_read((uint32_t)idx);
	print("counted once: event 0x%x: %u\n", event, n);
	if (event == EVENT_CYCLES && !fw.cycles_are_instructions)
		report_skip("11.10", name, "an instruction is not a cycle here");
	else
		report_eq(n, 2004 + fw.ecall_s, "11.10", name);
	reset_all();
}

static void reads_in_a_row(void)
{
	static uint64_t values[1000];
	int ctr = config_any(EVENT_INSTRUCTIONS, 0, "11.8", "config_matching: for reads");
	uint64_t odd = 0;

	if (ctr < 0)
		return;
	pmu_start(BIT(ctr), 0x8000000000000001UL & fw.value_mask);
	reads_of((uint32_t)ctr)(values, 1000);
	for (int i = 1; i < 1000; i++)
		odd += values[i] - values[i - 1] != 5;
	report_eq(odd, 0, "11.9", "1,000 reads in a row, five instructions apart, each 5 more");
	reset_all();
}

/* U code of known length, which reads the counter itself. */
static uint64_t user_work(uint32_t ctr)
{
	uint64_t n;

	csr_set(scounteren, BIT(ctr));
	n = user_run(user_call, 1000, (uint64_t)segment_of(ctr));
	csr_clear(scounteren, BIT(ctr));
	return n;
}

/*
 * Two counters of one event: each counts all of it, whatever hardware is behind. U reads the first,
 * which is the hardware's own index. S, which does not count, reads the second.
 */
static void shared(void)
{
	uint64_t a, c;

	if (!fw_obeys()) {
		report_skip("11.8", "one event twice", "no second counter for the event is given");
		return;
	}
	pmu_config(BIT(fw.a), SINH, EVENT_INSTRUCTIONS);
	pmu_config(BIT(fw.c), SINH, EVENT_INSTRUCTIONS);
	pmu_start(BIT(fw.a), 100);
	user_work(fw.a);
	a = counter_read(fw.a);
	report_eq(a, 100 + USER_SEGMENT(1000) + fw.ecall_u, "11.8",
	          "one event twice: the first counts alone");
	pmu_start(BIT(fw.c), 0x8000000000000001UL);
	user_work(fw.a);
	c = (counter_read(fw.c) - 0x8000000000000001UL) & fw.value_mask;
	report_eq(c, USER_SEGMENT(1000) + fw.ecall_u, "11.8",
	          "one event twice: the second counts, too");
	report_eq(counter_read(fw.a) - a, USER_SEGMENT(1000) + fw.ecall_u, "11.8",
	          "one event twice: the first counts on");
	pmu_stop(BIT(fw.a));
	a = counter_read(fw.a);
	/* A read that traps need not retire, so the two reads may add one or two. */
	c = user_work(fw.c);
	report(c == 2000 || c == 2001, "11.8", "one event twice: the survivor counts");
	report_eq(counter_read(fw.a), a, "11.8", "one event twice: the stopped one stands still");
	reset_all();
}

/*
 * Work of the layers below must not count for the guest. The numbers of the second part depend on
 * the compiler; they must be the same wherever this binary runs.
 */
static void below(uint64_t event, const char *name)
{
	int idx = config_any(event, SINH | UINH, "11.8", "config_matching: for work below");
	uint32_t ctr = (uint32_t)idx;
	uint64_t call, illegal, none;

	if (idx < 0)
		return;
	pmu_start(BIT(ctr), 4712);
	print("this line is printed by the firmware\n");
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
	trap_guard();
	insn_run(INSN_CSRW_A0(CSR_CYCLE), 0);
	trap_unguard();
	report_eq(counter_read(ctr), 4712, "11.8", name);
	reset_all();

	pmu_config(BIT(ctr), 0, event);
	pmu_start(BIT(ctr), 0);
	none = counter_read(ctr);
	none = counter_read(ctr) - none;
	call = counter_read(ctr);
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0, 0);
	call = counter_read(ctr) - call;
	trap_guard();
	illegal = counter_read(ctr);
	insn_run(INSN_CSRW_A0(CSR_CYCLE), 0);
	illegal = counter_read(ctr) - illegal;
	trap_unguard();
	reset_all();
	print("count event 0x%x: two reads %u, with an SBI call between %u", event, none, call);
	print(", with an illegal instruction between %u\n", illegal);
}

/* Section 11.1: cycles are not counted while the clock is halted. */
static void idle(void)
{
	static const char name[] = "cycles: WFI is not counted";
	uint64_t a, b;

	if (!fw.cycles_are_instructions) {
		report_skip("11.1", name, "an instruction is not a cycle here");
		return;
	}
	pmu_config(BIT(fw.a), 0, EVENT_INSTRUCTIONS);
	pmu_config(BIT(fw.b), 0, EVENT_CYCLES);
	irq_handle_by(NULL);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + 100000, 0, 0, 0, 0, 0);
	csr_set(sie, IRQ_TIMER);
	wait_run(BIT(fw.a) | BIT(fw.b));
	csr_clear(sie, IRQ_TIMER);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
	a = counter_read(fw.a);
	b = counter_read(fw.b);
	print("count over WFI: instructions %u, cycles %u\n", a, b);
	/* On the firmware alone, nothing is between the guest and the machine. */
	if (b != a && fw.impl_id == IMP_OPENSBI)
		report_skip("11.1", name, "this machine's clock runs on in WFI");
	else
		report_eq(b, a, "11.1", name);
	reset_all();
}

void test_count(void)
{
	static const char *const instructions[5] = {
	    "instructions, no filter: S and U of known length",
	    "instructions, UINH: S only",
	    "instructions, SINH: U only",
	    "instructions, UINH and SINH: nothing",
	    "instructions: UINH and SINH add up to no filter",
	};
	static const char *const cycles[5] = {
	    "cycles, no filter: S and U of known length",
	    "cycles, UINH: S only",
	    "cycles, SINH: U only",
	    "cycles, UINH and SINH: nothing",
	    "cycles: UINH and SINH add up to no filter",
	};

	csr_write(scounteren, 2);
	if (!lacks_filters("11.8", "cycles and instructions of one mode")) {
		filters(EVENT_INSTRUCTIONS, instructions);
		filters(EVENT_CYCLES, cycles);
	}
	hints();
	once(EVENT_INSTRUCTIONS, "instructions from start to stop, read once");
	once(EVENT_CYCLES, "cycles from start to stop, read once");
	if (fw.filters) {
		below(EVENT_INSTRUCTIONS, "instructions: work below the guest is not counted");
		below(EVENT_CYCLES, "cycles: work below the guest is not counted");
	}
	reads_in_a_row();
	if (fw.filters)
		shared();
	idle();
}
