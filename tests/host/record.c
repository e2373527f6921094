/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random steps for guests/replay on a fake hart like the emulated one, with the policy that Tally
 * gives the VM there. Left out is what cannot be equal: counts of TLB events, which depend on the
 * emulator; memory outside the window of the fake hart; overflow of fixed counters, which is
 * reported late there (see guests/sampling/two.c).
 */
#include "tests/host/csr_read.h"
#include "tests/host/record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "arch/riscv/hart/sbi_spec.h"
#include "tests/host/random_guest.h"

#define TIMER_OFF   ~0UL
#define SET_TIMER   0xf0005UL
#define FENCE_SENT  0xf0008UL
#define FENCE_COMES 0xf0009UL

#define READ_TRAPS REPLAY_KINDS /* as a kind of step: an illegal read */

/* Instructions in VS of each kind of step: up to the essential one, and after it. */
static const uint64_t costs[REPLAY_KINDS + 1][2] = {
    [REPLAY_CALL] = {13, 7}, [REPLAY_RUN] = {6, 5},  [REPLAY_USER] = {10, 5},
    [REPLAY_READ] = {13, 9}, [REPLAY_OVF] = {6, 7},  [REPLAY_LCOFIP] = {7, 9},
    [REPLAY_POKE] = {8, 5},  [REPLAY_PEEK] = {7, 7}, [READ_TRAPS] = {12, 8},
};

static FILE *file;
static unsigned long steps;
static uint64_t raises_seen;

/* --- what the program does ----------------------------------------------------------- */

static struct answer act(enum op_kind kind, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct op op = {.kind = (uint8_t)kind, .a = {a0, a1, a2, a3}};

	return world_do(&op);
}

static void execute(enum fake_mode mode, uint64_t insns)
{
	act(OP_RUN, mode, FAKE_ON_INSN, insns, ~0UL);
}

static void write_step(const struct replay_step *step)
{
	fwrite(step, sizeof(*step), 1, file);
	steps++;
}

static void before(enum replay_kind kind)
{
	execute(FAKE_VS, costs[kind][0]);
}

static void after(enum replay_kind kind)
{
	execute(FAKE_VS, costs[kind][1]);
}

static void do_call(const struct op *op)
{
	struct replay_step step = {.kind = REPLAY_CALL};
	struct answer answer;

	memcpy(step.a, op->a, sizeof(op->a));
	step.a[5] = op->kind;
	step.a[6] = SBI_EXT_PMU;
	before(REPLAY_CALL);
	answer = world_do(op);
	/* A call in slices is one instruction of the guest. */
	while (answer.again) {
		struct op again = *op;

		again.a[1] = WORLD_AGAIN;
		answer = world_do(&again);
	}
	step.want[0] = (uint64_t)answer.ret.error;
	step.want[1] = answer.ret.error ? 0 : answer.ret.value;
	write_step(&step);
	after(REPLAY_CALL);
}

/* Calls of other extensions, which count as firmware events. */
static void do_other_call(bool timer)
{
	struct replay_step step = {.kind = REPLAY_CALL};

	step.a[0] = timer ? TIMER_OFF : 1;
	step.a[5] = timer ? SBI_TIME_SET_TIMER : SBI_RFENCE_FENCE_I;
	step.a[6] = timer ? SBI_EXT_TIME : SBI_EXT_RFENCE;
	before(REPLAY_CALL);
	if (timer) {
		act(OP_FW_EVENT, 0, SET_TIMER & 0xffff, 0, 0);
	} else {
		act(OP_FW_EVENT, 0, FENCE_SENT & 0xffff, 0, 0);
		act(OP_FW_EVENT, 0, FENCE_COMES & 0xffff, 0, 0);
	}
	write_step(&step);
	after(REPLAY_CALL);
}

static void do_run(bool user, uint64_t rounds)
{
	struct replay_step step = {.kind = user ? REPLAY_USER : REPLAY_RUN, .a = {rounds}};

	write_step(&step);
	before((enum replay_kind)step.kind);
	execute(user ? FAKE_VU : FAKE_VS, 2 * rounds + user);
	after((enum replay_kind)step.kind);
}

/* One instruction that the hart counts, or that Tally emulates. */
static void do_csr_access(bool emulated)
{
	if (emulated)
		act(OP_RETIRED, 0, 0, 0, 0);
	else
		execute(FAKE_VS, 1);
}

static void do_read(uint32_t idx)
{
	struct vcpu *vc = &world_vcpus[0];
	struct replay_step step = {.kind = REPLAY_READ, .a = {idx}};
	uint64_t value;

	if (!vpmu_csr_read(&vc->vpmu, 0xc00 + idx, &value)) {
		step.want[0] = 1;
		write_step(&step);
		execute(FAKE_VS, costs[READ_TRAPS][0] + costs[READ_TRAPS][1]);
		return;
	}
	execute(FAKE_VS, costs[REPLAY_READ][0] - 1);
	do_csr_access(!(fake_hart_direct() >> idx & 1));
	vpmu_csr_read(&vc->vpmu, 0xc00 + idx, &step.want[1]);
	write_step(&step);
	after(REPLAY_READ);
}

static void do_ovf(void)
{
	struct replay_step step = {.kind = REPLAY_OVF};

	execute(FAKE_VS, costs[REPLAY_OVF][0] - 1);
	do_csr_access(true);
	step.want[1] = vpmu_scountovf(&world_vcpus[0].vpmu);
	write_step(&step);
	after(REPLAY_OVF);
}

static void do_lcofip(void)
{
	struct replay_step step = {.kind = REPLAY_LCOFIP};

	execute(FAKE_VS, costs[REPLAY_LCOFIP][0] - 1);
	step.want[1] = world_vcpus[0].raises != raises_seen;
	raises_seen = world_vcpus[0].raises;
	write_step(&step);
	/* If the access itself makes a counter wrap, it does not see that. */
	execute(FAKE_VS, 1);
	after(REPLAY_LCOFIP);
}

static void do_memory(enum replay_kind kind, uint64_t gpa, uint64_t value)
{
	struct replay_step step = {.kind = kind, .a = {gpa, value}};

	if (kind == REPLAY_POKE)
		act(OP_POKE, gpa, value, 0, 0);
	else
		step.want[1] = fake_mem_peek64(1, gpa);
	write_step(&step);
	before(kind);
	after(kind);
}

/* --- which steps --------------------------------------------------------------------- */

static const uint32_t allowed[] = {1,       2,         0x10019,    0x1001b,
                                   0x10021, SET_TIMER, FENCE_SENT, FENCE_COMES};
#define ALLOWED ((uint32_t)(sizeof(allowed) / sizeof(allowed[0])))

/* Tally on the emulated machine: home counters in the order in which events are found. */
static void make_machine(struct machine *machine, bool instret)
{
	memset(machine, 0, sizeof(*machine));
	machine->hart = fake_hart_homes();
	machine->hart.hctrs[FAKE_CYCLES] |= 1;
	machine->hart.hctrs[FAKE_INSNS] |= instret ? 4 : 0;
	machine->hart.hctrs[FAKE_RAW] = 0;
	machine->hart.hctrs[FAKE_RAW_V2] = 0;
	machine->hart.no_armed_cache_events = true;
	machine->hart.misuse = world_misused;
	for (uint32_t i = 0; i < VCPUS; i++) {
		machine->policy[i] = (struct vpmu_policy){
		    .hctrs = FAKE_PROGRAMMABLE | 5,
		    .fw_base = 19,
		    .width = 64,
		    .fw_events = 0x3fe0,
		    .fw_port_events = 0x1f,
		    .events = allowed,
		    .n_events = ALLOWED,
		    .overflow = true,
		    .snapshot = true,
		    .cheap_moves = true,
		    .polled_cache = true,
		    .steps = true,
		};
		memcpy(machine->allowed[i], allowed, sizeof(allowed));
	}
}

static bool in_window(uint64_t gpa, uint64_t n)
{
	return gpa >= FAKE_RAM && gpa < FAKE_RAM_END && n <= FAKE_RAM_END - gpa;
}

/* Neither in the window, nor in any VM's memory on the real machine. */
static bool is_nowhere(uint64_t gpa)
{
	return gpa < FAKE_RAM - 4096 || gpa >> 40;
}

static bool counts_tlb(uint64_t event_idx)
{
	return event_idx >> 16 == 1;
}

/* Whether stopped counters of a set have a fixed counter behind them. */
static bool has_fixed(uint64_t base, uint64_t mask)
{
	const struct vpmu *v = &world_vcpus[0].vpmu;

	for (; mask && base < 32; mask >>= 1, base++)
		if ((mask & 1) && (v->configured & ~v->running & v->policy.hctrs) >> base & 1 &&
		    HCTRS_FIXED >> v->counter[base].hctr & 1)
			return true;
	return false;
}

/* Changes starts so that counters on a fixed counter start far from their wrap. */
static bool starts_far(const struct op *op)
{
	return !has_fixed(op->a[0], op->a[1]) || (op->a[2] == 1 && op->a[3] < 1ULL << 63);
}

/* The same for a counter that may get a fixed one. */
static bool auto_starts_far(const struct op *op)
{
	return !(op->a[2] & SBI_PMU_CFG_FLAG_AUTO_START) || op->a[3] > 2 ||
	       (op->a[2] & SBI_PMU_CFG_FLAG_CLEAR_VALUE);
}

static bool is_the_same_everywhere(const struct op *op)
{
	switch (op->kind) {
	case OP_CONFIG:
		return !counts_tlb(op->a[3]) && auto_starts_far(op);
	case OP_START:
		return starts_far(op);
	case OP_SET_SHMEM:
		return in_window(op->a[0], 4096) || is_nowhere(op->a[0]);
	case OP_EVENT_INFO:
		if (op->a[2] > FAKE_RAM_SIZE)
			return is_nowhere(op->a[0]) || op->a[2] > 1UL << 40;
		return in_window(op->a[0], 16 * op->a[2]) || is_nowhere(op->a[0]);
	default:
		return true;
	}
}

/* Keeps counters configured, and makes them start soon before their wrap, because more happens
 * then. */
static void make_lively(struct chance *c, struct op *op)
{
	if (op->kind == OP_STOP && percent(c, 60))
		op->a[2] &= ~SBI_PMU_STOP_FLAG_RESET;
	if (op->kind == OP_START && percent(c, 60)) {
		op->a[0] = 0;
		op->a[1] = random_in_use(false) & (percent(c, 50) ? chance(c) : ~0UL);
		op->a[3] = 0 - (uint64_t)(1 + below(c, 3000));
		if (has_fixed(op->a[0], op->a[1])) {
			op->a[2] = 1;
			op->a[3] = below(c, 3000);
		}
	}
	/* Events that exist here, more often than by chance. */
	if (op->kind == OP_CONFIG && op->a[3] >> 16 == 15 && percent(c, 70)) {
		op->a[3] = allowed[5 + below(c, ALLOWED - 5)];
		op->a[4] = 0;
	}
}

static void random_recordable(struct chance *c, struct op *op)
{
	do {
		memset(op, 0, sizeof(*op));
		random_call(c, op);
		make_lively(c, op);
	} while (!is_the_same_everywhere(op));
}

/* Reads back what a call may have changed: slots and bitmap, or outputs. */
static void look_at_memory(struct chance *c, const struct op *op)
{
	const struct model *m = &world_vcpus[0].model;

	if (op->kind == OP_STOP && (op->a[2] & 2) && m->shmem_set) {
		do_memory(REPLAY_PEEK, m->shmem, 0);
		for (uint32_t i = 0; i < 4; i++)
			do_memory(REPLAY_PEEK, m->shmem + 8 + 8 * below(c, 36), 0);
	} else if (op->kind == OP_EVENT_INFO && op->a[2] && in_window(op->a[0], 16 * op->a[2])) {
		for (uint32_t i = 0; i < 4; i++)
			do_memory(REPLAY_PEEK,
			          (op->a[0] & ~15UL) + 16 * below(c, (uint32_t)op->a[2]), 0);
	}
}

static void write_memory(struct chance *c)
{
	const struct model *m = &world_vcpus[0].model;

	if (m->shmem_set && percent(c, 60)) {
		do_memory(REPLAY_POKE, m->shmem + 8 * below(c, 37),
		          0 - (uint64_t)(1 + below(c, 3000)));
	} else {
		uint64_t gpa = FAKE_RAM + 16 * below(c, 64);
		uint32_t event_idx =
		    percent(c, 60) ? allowed[below(c, ALLOWED)] : (uint32_t)chance(c) & 0xf00ff;

		do_memory(REPLAY_POKE, gpa, chance(c) << 32 | event_idx);
		if (percent(c, 20))
			do_memory(REPLAY_POKE, gpa + 8, below(c, 2));
	}
}

static void random_step(struct chance *c)
{
	uint32_t which = below(c, 100);
	struct op op;

	if (which < 40) {
		random_recordable(c, &op);
		do_call(&op);
		look_at_memory(c, &op);
	} else if (which < 44) {
		do_other_call(percent(c, 50));
	} else if (which < 60) {
		do_run(percent(c, 40), 1 + below(c, percent(c, 50) ? 20 : 3000));
	} else if (which < 82) {
		uint32_t idx = any_of(c, random_in_use(percent(c, 50)) & 0xfffffffd);

		/* 1 is time, which may always be read. */
		if (idx >= 32 || percent(c, 10))
			idx = 2 + below(c, 30);
		do_read(idx);
	} else if (which < 88) {
		do_ovf();
	} else if (which < 94) {
		do_lcofip();
	} else {
		write_memory(c);
	}
}

static void write_header(unsigned long n)
{
	uint64_t head[4] = {0, 1, n, sizeof(struct replay_step)};

	memcpy(head, "TALLYSEQ", 8);
	fwrite(head, sizeof(head), 1, file);
	fwrite(costs, sizeof(costs), 1, file);
}

int record(unsigned long n, unsigned long seed, const char *path, bool instret)
{
	static struct machine machine;
	struct chance c = {chance_mix(seed)};
	bool ok;

	file = fopen(path, "wb");
	if (!file) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return 1;
	}
	steps = 0;
	raises_seen = 0;
	write_header(0);
	make_machine(&machine, instret);
	world_reset(&machine);
	while (steps < n && !world_difference()[0])
		random_step(&c);
	rewind(file);
	write_header(steps);
	ok = !ferror(file);
	ok = fclose(file) == 0 && ok;
	if (!ok)
		fprintf(stderr, "%s: not written\n", path);
	if (world_difference()[0])
		fprintf(stderr, "seed %lu differs after step %lu: %s\n", seed, steps,
		        world_difference());
	else if (ok)
		printf("%s: %lu steps, %llu overflows told\n", path, steps,
		       (unsigned long long)world_vcpus[0].model.wraps);
	return ok && !world_difference()[0] ? 0 : 1;
}
