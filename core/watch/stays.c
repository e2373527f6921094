/* SPDX-License-Identifier: Apache-2.0 */
#include "core/watch/stays.h"

#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/port.h"
#include "core/vcpu/exit_record.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm.h"
#include "core/watch/account.h"
#include "core/watch/samples.h"

#define WORDS 7U /* at most */
/* Two records of each vcpu: the end of one trace, and the beginning of another. */
_Static_assert(4 * 2 * MAX_HART_VCPUS <= SAMPLE_RING_SPARE, "room for all vcpus");

/* A hart's current stay. */
static struct hart_stay {
	struct exit_record exit; /* the hart's last exit; vcpu NULL: not to be accounted */
	bool traced;             /* the trace has the exit, or is not to have it */
	bool accounted;          /* the account of its vcpu has it */
	bool idle;               /* the hart has slept since the last record of the trace */
	uint32_t number;         /* of that record, even if it had no room */
	/* Host time and hvip at the exit, or at the end of the last part of the stay. */
	uint64_t from, hvip;
} hart_stays[MAX_HARTS];

static void begin_next_part(struct hart_stay *s, uint64_t now, uint64_t hvip)
{
	s->traced = true;
	s->from = now;
	s->hvip = hvip;
}

/* Not inlined: their callers would save more registers, even without a trace. */
#define ASIDE __attribute__((noinline))

/* The guest's bits of hvip: some emulators show the hart's own interrupts there as well. */
#define INJECTED (VS_INTERRUPTS | BIT(IRQ_LCOFI))

static const struct vm *chosen;
static struct sample_ring *rings;

void stays_choose(const struct vm *vm, struct sample_ring *to)
{
	__atomic_store_n(&chosen, vm, __ATOMIC_RELAXED);
	__atomic_store_n(&rings, to, __ATOMIC_RELAXED);
}

/* Returns the injected interrupts of the resident vcpu. */
static uint64_t injected_now(void)
{
	return this_pcpu()->current ? csr_read(CSR_HVIP) & INJECTED : 0;
}

static void put(const struct vcpu *vcpu, uint64_t kind, uint64_t words[WORDS], uint32_t n)
{
	uint32_t hart = vcpu->home->index;
	uint64_t number = ++hart_stays[hart].number;

	words[0] = number << 32 | kind << 24 | (uint64_t)vcpu->index << 16 | n;
	(void)samples_put(__atomic_load_n(&rings, __ATOMIC_RELAXED), hart, words, n,
	                  kind < STAYS_BEGIN ? SAMPLE_RING_SPARE : 0);
}

/* --- stays -------------------------------------------------------------------------------- */

/* Returns the host time at which the stay, or this part of it, began. If the hart has slept before,
 * the time at which it woke was not recorded, and is estimated: one cycle for each instruction. */
static uint64_t beginning(const struct pcpu *pcpu, const struct hart_stay *s, uint64_t now,
                          uint64_t insns)
{
	uint64_t ticks = pcpu->cycles_per_tick ? insns / pcpu->cycles_per_tick + 1 : 0;

	return s->idle && now - s->from > ticks ? now - ticks : s->from;
}

/* Adds the exit with which the stay began. Returns the number of words. */
static uint32_t add_exit(const struct exit_record *exit, uint64_t words[WORDS])
{
	words[4] = exit->sepc;
	if (exit->scause & CAUSE_INTERRUPT)
		return 5;
	words[5] = exit_is_ecall(exit) ? exit->eid : exit->stval;
	words[6] = exit_is_ecall(exit) ? exit->fid : exit->gpa;
	return 7;
}

static void trace(struct pcpu *pcpu, const struct vcpu *vcpu, uint64_t why, uint64_t insns)
{
	struct hart_stay *s = &hart_stays[pcpu->index];
	const struct vcpu *resident = pcpu->current;
	uint64_t now = csr_read(CSR_TIME), from = beginning(pcpu, s, now, insns);
	uint64_t hvip = injected_now();
	uint64_t cause =
	    s->traced ? STAY_GOES_ON : (s->exit.scause & 0x3f) | s->exit.scause >> 63 << 7;
	const struct vm *of = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
	uint64_t words[WORDS];
	uint32_t n = 4;

	words[1] = from;
	words[2] = (now - from) << 32 | (insns & UINT32_MAX);
	words[3] = (hvip & ~s->hvip) << 32 | (uint64_t)(resident ? resident->index : 0xff) << 16 |
	           why << 8 | cause;
	if (cause != STAY_GOES_ON)
		n = add_exit(&s->exit, words);
	if (!of || vcpu->vm == of)
		put(vcpu, STAYS_STAY, words, n);
	begin_next_part(s, now, hvip);
	s->idle = !resident && !pcpu->ready;
}

void record_exit(void)
{
	struct pcpu *pcpu = this_pcpu();
	struct hart_stay *s = &hart_stays[pcpu->index];

	exit_record_make(&s->exit, this_vcpu());
	s->from = s->exit.time;
	s->hvip = csr_read(CSR_HVIP);
	s->traced = false;
	s->accounted = false;
}

void stay_record(struct guest_context *ctx, uint64_t why, uint64_t insns)
{
	struct vcpu *vcpu = vcpu_of(ctx);
	struct pcpu *pcpu = vcpu->home;
	struct hart_stay *s = &hart_stays[pcpu->index];

	if (!vcpu->stays.users) {
		ctx->hs_longest = insns;
		return;
	}
	if (insns > vcpu->stays.longest)
		vcpu->stays.longest = insns;
	if (vcpu->stays.users & STAYS_FOR_ACCOUNT)
		account_stay(vcpu, &s->exit, &s->accounted, (enum vcpu_exit)why, insns);
	if (vcpu->stays.users & STAYS_FOR_TRACE)
		trace(pcpu, vcpu, why, insns);
	/* Recording is accounted to no vcpu. */
	pcpu_top(pcpu)->stay_start = csr_read(CSR_INSTRET);
}

/* --- the resident vcpu -------------------------------------------------------------------- */

static void come(const struct vcpu *vcpu, uint64_t injected)
{
	uint64_t words[WORDS] = {
	    [1] = csr_read(CSR_TIME), [2] = vcpu->stats.steal_ticks, [3] = injected & INJECTED};

	put(vcpu, STAYS_COME, words, 4);
}

/* Excludes the instructions since then (a value of instret) from the stay, except for a few. */
static void is_nobodys(struct pcpu *pcpu, uint64_t since)
{
	pcpu_top(pcpu)->stay_start += csr_read(CSR_INSTRET) - since;
}

ASIDE void stays_load(struct vcpu *vcpu)
{
	uint64_t since = csr_read(CSR_INSTRET);

	hart_stays[vcpu->home->index].hvip = vcpu->vs.hvip;
	come(vcpu, vcpu->vs.hvip & ~vcpu->stays.hvip);
	is_nobodys(vcpu->home, since);
}

ASIDE void stays_put(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	uint64_t since = csr_read(CSR_INSTRET);
	uint64_t words[WORDS] = {[1] = csr_read(CSR_TIME)};

	words[2] = run_state_ready(&vcpu->run)      ? STAYS_READY
	           : vcpu->run.blocked & BLOCK_IDLE ? STAYS_WAITING
	                                            : STAYS_OFF;
	vcpu->stays.hvip = injected_now();
	words[3] = vcpu->stays.hvip & ~hart_stays[pcpu->index].hvip;
	words[4] = vcpu->stats.steal_ticks;
	put(vcpu, STAYS_GO, words, 5);
	is_nobodys(pcpu, since);
}

/* --- begin and end of a trace -------------------------------------------------------------- */

/* Drops the exit of the current stay, which began before the trace. */
static void forget_exit(const struct pcpu *pcpu)
{
	begin_next_part(&hart_stays[pcpu->index], csr_read(CSR_TIME), injected_now());
}

/* The trap vector records exits of all vcpus of a hart, or of none. */
static void add_recorded(struct pcpu *pcpu, int64_t more)
{
	uint64_t *recorded = &pcpu_top(pcpu)->recorded_vcpus, before = *recorded;

	*recorded += (uint64_t)more;
	if (!before == !*recorded)
		return;
	trap_record(pcpu->n_chain_observers || *recorded);
	forget_exit(pcpu);
}

static bool is_traced(const struct pcpu *pcpu)
{
	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		if (vcpu_home(pcpu->vcpus[i]) == pcpu && pcpu->vcpus[i]->stats.stays_traced)
			return true;
	}
	return false;
}

/* Begins the recording of a vcpu. If the hart's last exit was the vcpu's, it came before, and is
 * dropped. */
static void add_vcpu(const struct vcpu *vcpu)
{
	struct hart_stay *s = &hart_stays[vcpu->home->index];

	add_recorded(vcpu->home, 1);
	if (s->exit.vcpu == vcpu && !s->accounted)
		s->exit.vcpu = NULL;
}

void stays_start_recording(struct vcpu *vcpu, uint32_t user)
{
	if (!vcpu->stays.users) {
		add_vcpu(vcpu);
		vcpu->stays.longest = vcpu->ctx.hs_longest;
		vcpu->ctx.hs_longest = 0;
	}
	vcpu->stays.users |= user;
}

void stays_stop_recording(struct vcpu *vcpu, uint32_t user)
{
	if (!(vcpu->stays.users & user))
		return;
	vcpu->stays.users &= ~user;
	if (vcpu->stays.users)
		return;
	vcpu->ctx.hs_longest = vcpu->stays.longest;
	add_recorded(vcpu->home, -1);
}

ASIDE void stays_arrive(struct vcpu *vcpu)
{
	uint64_t words[WORDS] = {[1] = csr_read(CSR_TIME)};

	if (vcpu->stays.users)
		add_vcpu(vcpu);
	if (vcpu->stats.stays_traced)
		put(vcpu, STAYS_MOVED, words, 2);
}

ASIDE void stays_leave(struct vcpu *vcpu)
{
	if (vcpu->stays.users)
		add_recorded(vcpu->home, -1);
}

static void note_account(const struct vcpu *vcpu, uint64_t kind)
{
	uint64_t words[WORDS] = {[1] = csr_read(CSR_TIME), [2] = vcpu_hs_insns(vcpu)};

	put(vcpu, kind, words, 3);
}

void stays_begin(struct vcpu *vcpu)
{
	if (!is_traced(vcpu->home))
		forget_exit(vcpu->home);
	stays_start_recording(vcpu, STAYS_FOR_TRACE);
	vcpu->stays.hvip = vcpu->vs.hvip;
	vcpu->stats.stays_traced = true;
	note_account(vcpu, STAYS_BEGIN);
	if (vcpu_is_current(vcpu))
		come(vcpu, 0);
}

void stays_end(struct vcpu *vcpu)
{
	if (!vcpu->stats.stays_traced)
		return;
	note_account(vcpu, STAYS_END);
	vcpu->stats.stays_traced = false;
	stays_stop_recording(vcpu, STAYS_FOR_TRACE);
}
