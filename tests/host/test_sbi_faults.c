/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vpmu/, its port and the sbi back end, on a firmware whose n-th call of a function fails; one run
 * of a guest for each function and n. Whatever the calls return, each count that the guest can read
 * afterwards must be exact. Otherwise the counter is lost, and cannot be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_selfcheck.h"
#include "arch/riscv/hart/trap.h"
#include "core/hart/platform.h"
#include "core/panic.h"
#include "core/pmu/port.h"
#include "core/vcpu/guest_mem.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/hpm_failures.h"
#include "core/vcpu/vm.h"
#include "core/watch/observe.h"
#include "core/watch/samples.h"
#include "tests/host/fake_firmware.h"
#include "tests/host/vpmu_calls.h"
#include "vpmu/retired.h"

#define CYCLES   1UL
#define INSTRS   2UL
#define DTLB     0x10019UL
#define HW       0x7fffdUL
#define COUNTERS 32U
#define NONE     COUNTERS

#define CLEAR SBI_PMU_CFG_FLAG_CLEAR_VALUE
#define AUTO  SBI_PMU_CFG_FLAG_AUTO_START
#define SKIP  SBI_PMU_CFG_FLAG_SKIP_MATCH
#define UINH  SBI_PMU_CFG_FLAG_SET_UINH
#define INIT  SBI_PMU_START_SET_INIT_VALUE
#define RESET SBI_PMU_STOP_FLAG_RESET

/* --- what is not there ---------------------------------------------------------------- */

static union hart_stack home;
static struct vcpu vcpus[2];
struct quirks quirks = {.home_counters = true};
struct platform platform = {.timebase = 10000000};
static jmp_buf ended;

struct pcpu *this_pcpu(void)
{
	return &home.pcpu;
}

struct guest_context *this_context(void)
{
	return &home.pcpu.current->ctx;
}

void *guest_mem(const struct vm *vm, gpa_t gpa, uint64_t size)
{
	(void)vm, (void)gpa, (void)size;
	return NULL;
}

void vcpu_set_vtw(struct vcpu *vcpu, bool trap)
{
	(void)vcpu, (void)trap;
}

void vcpu_observer_lost(struct vcpu *vcpu, uint32_t n, uint64_t value)
{
	(void)vcpu, (void)n, (void)value;
}

uint64_t vcpu_sample(struct vcpu *vcpu, uint32_t n, uint64_t period, uint64_t missed)
{
	(void)vcpu, (void)n, (void)period, (void)missed;
	abort();
}

/* No vcpu here reads the hart's OF bits. */
void hart_flags_handle_overflow(struct vcpu *vcpu)
{
	(void)vcpu;
	abort();
}

/* No vcpu here has a budget, or a limit of LCOFIs. */
uint64_t vcpu_next_deadline(const struct vcpu *vcpu)
{
	(void)vcpu;
	abort();
}

void vcpu_budget_spent(struct vcpu *vcpu)
{
	(void)vcpu;
	abort();
}

void vm_failed(struct vcpu *vcpu, const char *failure, uint64_t value)
{
	(void)vcpu, (void)failure, (void)value;
	abort();
}

void vcpu_observers_lose_clock(struct vcpu *vcpu)
{
	(void)vcpu;
}

void vcpu_lcofi_limited(struct vcpu *vcpu)
{
	(void)vcpu;
}

void vcpu_fw_watch(struct vcpu *vcpu, uint32_t codes)
{
	(void)vcpu, (void)codes;
}

uint64_t vcpu_fw_total(const struct vcpu *vcpu, uint32_t code)
{
	(void)vcpu, (void)code;
	return 0;
}

void vcpu_wake_in_windows(const struct vcpu *vcpu, uint64_t at)
{
	(void)vcpu, (void)at;
}

void wake_times_set(struct wake_times *wake, uint32_t i, uint64_t at)
{
	(void)wake, (void)i, (void)at;
}

/* The machine ends with a line, and no guest reads anything any more. */
void platform_lacks(const char *format, ...)
{
	(void)format;
	longjmp(ended, 1);
}

/* --- what each guest should count ------------------------------------------------------ */

struct ideal {
	bool configured, running, lost, near, of;
	unsigned long event_idx, flags;
	uint64_t value;
};

static struct guest {
	struct vcpu *vcpu;
	struct ideal c[COUNTERS];
	uint32_t refused; /* calls, for no fault of the guest's own */
	uint32_t lost;    /* counters in total */
	uint32_t wraps, lcofis;
} guests[2];

static struct guest *g; /* the current one */
static const char *doing;
static char fault_text[64];

static bool counts(const struct ideal *c, bool user, bool miss)
{
	return c->running && !(user && (c->flags & UINH)) && (c->event_idx != DTLB || miss);
}

static void wrong(uint32_t i, const char *what, uint64_t value)
{
	fail_msg("%s; %s: counter %u: %s %#llx, not %#llx", fault_text, doing, i, what,
	         (unsigned long long)value, (unsigned long long)g->c[i].value);
}

static void take_lcofis(void)
{
	if (host_csrs[CSR_HVIP] & BIT(IRQ_LCOFI))
		g->lcofis++;
	host_csrs[CSR_HVIP] &= ~BIT(IRQ_LCOFI);
}

static void note_lost(struct ideal *c)
{
	c->lost = true;
	c->running = c->near = c->of = false;
	g->lost++;
}

/* Everything that the guest can read. */
static void check(void)
{
	const struct vpmu *v = &g->vcpu->pmu;

	take_lcofis();
	for (uint32_t i = 0; i < COUNTERS; i++) {
		struct ideal *c = &g->c[i];

		if (!c->configured || c->lost)
			continue;
		if (!vpmu_may_read(v, i)) {
			note_lost(c);
			continue;
		}
		if (vpmu_csr_value(v, i) != c->value)
			wrong(i, "reads", vpmu_csr_value(v, i));
		if ((host_csrs[CSR_HCOUNTEREN] >> i & 1) && firmware_counter(i) != c->value)
			wrong(i, "reads directly", firmware_counter(i));
		if ((vpmu_scountovf(v) >> i & 1) != c->of)
			wrong(i, "has OF", !c->of);
	}
	/* An overflow that was reported before its counter was lost remains reported. */
	if (g->lcofis < g->wraps)
		fail_msg("%s; %s: %u interrupts for %u overflows", fault_text, doing, g->lcofis,
		         g->wraps);
	g->lcofis = g->wraps = 0;
}

/* --- what it does ---------------------------------------------------------------------- */

/* The end of an exit, as in core/dispatch/exit.c. */
static struct sbi_ret leave_hs(uint64_t fid, struct sbi_ret ret)
{
	uint64_t *x = g->vcpu->ctx.x;

	x[17] = SBI_EXT_PMU;
	x[16] = fid;
	x[10] = (uint64_t)ret.error;
	x[11] = ret.value;
	hpm_failures_settle_exit(&home.pcpu, g->vcpu, ~(uint64_t)EXIT_ECALL);
	hpm_failures_settle_on(&home.pcpu, g->vcpu);
	return (struct sbi_ret){.error = (long)x[10], .value = x[11]};
}

static void leave_hs_for_nothing(void)
{
	leave_hs(SBI_PMU_NUM_COUNTERS, (struct sbi_ret){.error = SBI_SUCCESS});
}

static void move(bool user, bool miss)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		struct ideal *c = &g->c[i];

		if (!counts(c, user, miss) || ++c->value || !c->near)
			continue;
		c->near = false;
		c->of = true;
		g->wraps++;
	}
}

static void run(bool user, uint32_t insns, bool miss)
{
	doing = "run";
	for (uint32_t i = 0; i < insns; i++) {
		firmware_guest_insn(user, miss);
		move(user, miss);
		if (host_csrs[CSR_SIP] & BIT(IRQ_LCOFI)) {
			vpmu_overflow(&g->vcpu->pmu);
			leave_hs_for_nothing();
		}
		check();
	}
}

static void emulated(bool user)
{
	doing = "emulated instruction";
	vpmu_retired(&g->vcpu->pmu, user);
	leave_hs_for_nothing();
	move(user, false);
	check();
}

static uint32_t config(uint64_t set, unsigned long flags, unsigned long event_idx)
{
	struct sbi_ret ret;
	struct ideal *c;

	doing = "config";
	ret = leave_hs(SBI_PMU_COUNTER_CONFIG_MATCHING,
	               vpmu_counter_config_matching(&g->vcpu->pmu, 0, set, flags, event_idx, 0));
	if (ret.error) {
		g->refused++;
		check();
		return NONE;
	}
	c = &g->c[ret.value];
	if (flags & CLEAR)
		c->value = 0;
	else if (c->lost)
		/* It cannot have kept another value. */
		c->value = vpmu_csr_value(&g->vcpu->pmu, ret.value);
	c->lost = c->of = false;
	c->configured = true;
	c->event_idx = event_idx;
	c->flags = flags;
	c->running = flags & AUTO;
	check();
	return (uint32_t)ret.value;
}

/* Starts those that it could configure, and again with the same value if that fails. */
static void start(uint64_t set, unsigned long flags, uint64_t value)
{
	uint64_t named = 0;
	struct sbi_ret ret = {.error = SBI_ERR_FAILED};

	doing = "start";
	for (uint32_t i = 0; i < COUNTERS; i++)
		if ((set >> i & 1) && g->c[i].configured && !g->c[i].running)
			named |= BIT(i);
	for (uint32_t tries = 0; named && ret.error && tries < 2; tries++) {
		ret = leave_hs(SBI_PMU_COUNTER_START,
		               vpmu_counter_start(&g->vcpu->pmu, 0, named, flags, value));
		g->refused += ret.error != 0;
		for (uint32_t i = 0; i < COUNTERS; i++) {
			struct ideal *c = &g->c[i];

			/* If a set failed, the CSRs that can be read show which counters run. */
			if (!(named >> i & 1) || !(g->vcpu->pmu.running >> i & 1))
				continue;
			named &= ~BIT(i);
			c->running = true;
			c->lost = c->of = false;
			if (flags & INIT)
				c->value = value;
			c->near = c->value >= 3UL << 62;
		}
		if (!ret.error && named)
			fail_msg("%s; start: counters %#llx do not run, and it did not say so",
			         fault_text, (unsigned long long)named);
		check();
	}
}

static void stop(uint64_t set, unsigned long flags)
{
	doing = "stop";
	leave_hs(SBI_PMU_COUNTER_STOP, vpmu_counter_stop(&g->vcpu->pmu, 0, set, flags));
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(set >> i & 1))
			continue;
		g->c[i].running = g->c[i].near = false;
		if (flags & RESET)
			g->c[i].configured = g->c[i].lost = g->c[i].of = false;
	}
	check();
}

static void switch_to(struct guest *next)
{
	doing = "switch";
	vpmu_save(&g->vcpu->pmu);
	hpm_failures_settle_on(&home.pcpu, g->vcpu);
	take_lcofis();
	g = next;
	home.pcpu.current = g->vcpu;
	vpmu_restore(&g->vcpu->pmu);
	hpm_failures_settle_on(&home.pcpu, g->vcpu);
	check();
}

/* One call of each kind, and each where a failing firmware does most harm. */
static void script(void)
{
	uint32_t cycles, instrs, misses, sharer, again;

	cycles = config(HW, CLEAR, CYCLES);
	instrs = config(HW, CLEAR, INSTRS);
	misses = config(HW, CLEAR | UINH, DTLB);
	start(BIT(cycles) | BIT(instrs), INIT, 100);
	start(BIT(misses), INIT, -6UL);
	run(false, 5, true);
	emulated(false);
	run(true, 3, true);
	run(false, 4, true);
	/* A counter that shares, wraps second, and becomes the anchor. */
	sharer = config(HW, CLEAR, INSTRS);
	start(BIT(sharer), INIT, -9UL);
	run(false, 3, false);
	emulated(false);
	stop(BIT(misses), 0);
	start(BIT(misses), 0, 0);
	run(false, 8, true);
	/* Another filter, on the fixed counter. */
	again = config(HW, CLEAR | UINH, INSTRS);
	start(BIT(again), INIT, 1000);
	run(true, 4, false);
	run(false, 4, false);
	/* Another guest with its own counters on the same hart. */
	switch_to(&guests[1]);
	start(BIT(config(HW, CLEAR, CYCLES)) | BIT(config(HW, CLEAR | UINH, INSTRS)), INIT, -3UL);
	run(true, 2, false);
	run(false, 7, true);
	switch_to(&guests[0]);
	run(false, 3, true);
	stop(BIT(cycles) | BIT(instrs), 0);
	run(false, 2, true);
	start(BIT(cycles), 0, 0);
	/* A stopped counter that is configured for something else, and continues with that or with
	 * nothing. */
	config(BIT(instrs), SKIP | CLEAR | AUTO | UINH, CYCLES);
	start(BIT(instrs), INIT, 50);
	run(false, 5, true);
	run(true, 5, false);
	switch_to(&guests[1]);
	run(false, 5, true);
	switch_to(&guests[0]);
	stop(HW, RESET);
	start(BIT(config(HW, CLEAR, DTLB)), INIT, -2UL);
	run(false, 4, true);
}

/* --- every call, every time ------------------------------------------------------------ */

static const struct hpm_event events[] = {
    {.event_idx = CYCLES, .hctrs = BIT(3)},
    {.event_idx = INSTRS, .hctrs = BIT(4)},
    {.event_idx = DTLB, .hctrs = BIT(5)},
};

static void begin(void)
{
	static const struct vpmu_policy policy = {
	    .hctrs = HW, .fw_base = 19, .width = 64, .overflow = true};
	struct hpm *hpm = &home.pcpu.hpm;

	firmware_reset();
	memset(&home, 0, sizeof(home));
	memset(vcpus, 0, sizeof(vcpus));
	memset(guests, 0, sizeof(guests));
	*hpm = (struct hpm){.hctrs = 0x7fff8, .fixed = 5, .width = 64, .lcofi = true};
	memcpy(hpm->events, events, sizeof(events));
	hpm->n_events = ARRAY_SIZE(events);
	home.pcpu.cycles_per_tick = 1;
	for (uint32_t i = 0; i < 2; i++) {
		vcpus[i].home = &home.pcpu;
		guests[i].vcpu = &vcpus[i];
		vpmu_init(&vcpus[i].pmu, &policy);
	}
	g = &guests[0];
	home.pcpu.current = g->vcpu;
	vpmu_restore(&g->vcpu->pmu);
}

/* Numbers of runs: those in which the guest noticed nothing, in which a call was refused, in which
 * counts were lost, and at whose end the machine stopped with a line because HS did not get instret
 * back. */
struct outcome {
	uint32_t runs, exact, refused, lost, ended;
};

static void one_run(uint64_t fid, uint64_t n, enum firmware_fault fault, struct outcome *outcome)
{
	outcome->runs++;
	snprintf(fault_text, sizeof(fault_text), "function %llu, call %llu, fault %d",
	         (unsigned long long)fid, (unsigned long long)n, (int)fault);
	begin();
	firmware_fail(fid, n, fault);
	if (setjmp(ended)) {
		outcome->ended++;
		return;
	}
	script();
	if (guests[0].lost || guests[1].lost)
		outcome->lost++;
	else if (guests[0].refused || guests[1].refused)
		outcome->refused++;
	else
		outcome->exact++;
}

static const char *const fault_names[FIRMWARE_FAULTS] = {"nothing", "part", "all", "twice",
                                                         "always"};

/* For each fault the runs, and what became of all counts in them; see struct outcome. */
static const struct {
	uint64_t fid;
	const char *name;
	struct outcome want[FIRMWARE_FAULTS];
} calls[] = {
    {SBI_PMU_COUNTER_CONFIG_MATCHING,
     "config",
     {{16, 3, 5, 8, 0}, {16, 3, 5, 8, 0}, {16, 3, 5, 8, 0}, {16, 3, 3, 10, 0}, {16, 0, 3, 0, 13}}},
    {SBI_PMU_COUNTER_START,
     "start",
     {{25, 25, 0, 0, 0},
      {25, 25, 0, 0, 0},
      {25, 25, 0, 0, 0},
      {25, 3, 0, 22, 0},
      {25, 0, 0, 1, 24}}},
    {SBI_PMU_COUNTER_STOP,
     "stop",
     {{23, 15, 2, 6, 0},
      {23, 15, 2, 6, 0},
      {23, 23, 0, 0, 0},
      {23, 8, 4, 11, 0},
      {23, 0, 2, 0, 21}}},
};

static void test_a_firmware_that_never_fails(void **state)
{
	struct outcome outcome = {0};

	(void)state;
	one_run(SBI_PMU_COUNTER_START, FIRMWARE_NEVER, FIRMWARE_NOTHING, &outcome);
	assert_int_equal(outcome.exact, 1);
}

static void test_each_call_fails_each_time(void **state)
{
	bool differs = false;

	(void)state;
	print_message("  %-8s %-8s %5s %6s %8s %5s %6s\n", "call", "does", "runs", "exact",
	              "refused", "lost", "ended");
	for (uint32_t i = 0; i < ARRAY_SIZE(calls); i++) {
		uint64_t times;

		one_run(calls[i].fid, FIRMWARE_NEVER, FIRMWARE_NOTHING, &(struct outcome){0});
		times = firmware_calls(calls[i].fid);
		for (uint32_t f = 0; f < FIRMWARE_FAULTS; f++) {
			struct outcome got = {0};

			for (uint64_t n = 0; n < times; n++)
				one_run(calls[i].fid, n, (enum firmware_fault)f, &got);
			print_message("  %-8s %-8s %5u %6u %8u %5u %6u\n", calls[i].name,
			              fault_names[f], got.runs, got.exact, got.refused, got.lost,
			              got.ended);
			differs |= memcmp(&got, &calls[i].want[f], sizeof(got)) != 0;
		}
	}
	assert_false(differs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_a_firmware_that_never_fails),
	    cmocka_unit_test(test_each_call_fails_each_time),
	};

	return cmocka_run_group_tests_name("sbi back end: a firmware that fails", tests, NULL,
	                                   NULL);
}
