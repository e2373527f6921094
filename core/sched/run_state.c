/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sched/run_state.h"
#include "arch/riscv/hart/csr.h"
#include "core/hart/check.h"
#include "core/sched/sched.h"
#include "core/vcpu/guest_file.h"

/* The vcpu is ready, also in pcpu->ready, and has a guest to run or requests to be served. */
static void wants_turn(struct pcpu *pcpu, struct vcpu *vcpu)
{
	run_state_take(vcpu);
	/* The next load does not look at those outside their windows. */
	if (!pcpu->current && pcpu->ready & vcpu->bit)
		pcpu->steal_at_load |= vcpu->bit;
	else if (vcpu != pcpu->current)
		vcpu_steal_begin(vcpu, csr_read(CSR_TIME));
	pcpu_resched(pcpu);
}

void vcpu_unblock(struct vcpu *vcpu, uint8_t why)
{
	CHECK(vcpu->home == this_pcpu());
	vcpu->run.blocked &= (uint8_t)~why;
	if (!vcpu->run.blocked) {
		CHECK(!(vcpu->run.turns & TURN_WORK));
		vcpu->run.turns = 0;
		wants_turn(vcpu->home, vcpu);
	} else if (run_state_ready(&vcpu->run)) {
		run_state_take(vcpu);
	}
}

/* Gives a blocked vcpu a turn to have its requests served. */
static void turn_for_requests(struct vcpu *vcpu)
{
	CHECK(vcpu->run.blocked && !(vcpu->run.blocked & BLOCK_MOVE));
	vcpu->run.turns |= TURN_REQUESTS;
	wants_turn(vcpu->home, vcpu);
}

void sched_start_life_work(struct vcpu *vcpu)
{
	CHECK(vcpu->home == this_pcpu() && vcpu->run.blocked == BLOCK_OFF);
	/* Requests are served in these turns as well. */
	vcpu->run.turns = TURN_WORK;
	run_state_take(vcpu);
	vcpu_steal_drop(vcpu);
	pcpu_resched(vcpu->home);
}

void sched_off(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	struct run_state *run = &vcpu->run;

	CHECK(vcpu->home == this_pcpu());
	if (vcpu->budget.throttled_since && !(run->blocked & BLOCK_IDLE))
		vcpu_throttled_end(vcpu, csr_read(CSR_TIME));
	vcpu->budget.throttled_since = 0;
	vcpu_wake_at(vcpu, ~0UL);
	run->blocked = (run->blocked & BLOCK_MOVE) | BLOCK_OFF;
	vcpu_turn_over(vcpu, TURN_REQUESTS);
	pcpu_resched(pcpu);
}

void sched_wait(struct vcpu *vcpu)
{
	CHECK(vcpu->home == this_pcpu());
	vcpu_block(vcpu, BLOCK_WAIT);
	pcpu_resched(vcpu->home);
}

void sched_wait_for_output(struct vcpu *vcpu)
{
	CHECK(vcpu->home == this_pcpu());
	vcpu_block(vcpu, BLOCK_OUTPUT);
	pcpu_resched(vcpu->home);
}

/* Ends these reasons, and with them that of its budget, which is checked at its turn. */
static void end_idle(struct vcpu *vcpu, uint8_t why)
{
	/* No request needs to interrupt for it. */
	if (vcpu != vcpu->home->current)
		requests_disable(&vcpu->requests);
	vcpu->budget.throttled_since = 0;
	vcpu_unblock(vcpu, (uint8_t)(why | BLOCK_BUDGET));
}

void sched_has_output(struct vcpu *vcpu)
{
	if (!(vcpu->run.blocked & BLOCK_OUTPUT))
		return;
	/* If the vcpu is still resident, its budget may have been spent in this stay. */
	if (vcpu == vcpu->home->current) {
		vcpu_unblock(vcpu, BLOCK_OUTPUT);
		return;
	}
	end_idle(vcpu, BLOCK_OUTPUT);
	vcpu_set_wake(vcpu);
}

/* Its wake time is that of a vcpu that is not blocked. */
static inline void wake(struct vcpu *vcpu)
{
	if (vcpu->guest_file)
		guest_file_disable_irq(vcpu);
	if (atomic_load_explicit(&vcpu->hsm_state, memory_order_relaxed) == SBI_HSM_STATE_SUSPENDED)
		atomic_store(&vcpu->hsm_state, SBI_HSM_STATE_STARTED);
	end_idle(vcpu, BLOCK_WAIT);
}

/* Not inlined, because sched_wake() would save registers. */
static __attribute__((noinline)) void wake_in_windows(struct vcpu *vcpu)
{
	sched_steal_since_timer(vcpu);
	vcpu_wake_in_windows(vcpu, vcpu_deadline(vcpu));
	wake(vcpu);
}

void sched_wake(struct vcpu *vcpu)
{
	CHECK(vcpu->home == this_pcpu() && run_state_sleeps(&vcpu->run));
	if (vcpu->home->has_schedule) {
		wake_in_windows(vcpu);
		return;
	}
	wake_times_set(vcpu->home->wake, vcpu->index, vcpu_deadline(vcpu));
	wake(vcpu);
}

void sched_wake_if_interrupted(struct vcpu *vcpu)
{
	if (run_state_sleeps(&vcpu->run) && vcpu_has_interrupt(vcpu))
		sched_wake(vcpu);
}

void sched_enable_requests(struct vcpu *vcpu)
{
	uint64_t enabled = REQ_AT_ONCE;

	CHECK(vcpu->home == this_pcpu());
	if (!run_state_ready(&vcpu->run)) {
		enabled |= REQ_START | REQ_STOP;
		if (run_state_sleeps(&vcpu->run))
			enabled |= vcpu_wake_requests(vcpu);
	}
	if (requests_enable(&vcpu->requests, enabled) & ~REQ_AT_ONCE)
		turn_for_requests(vcpu);
}

void sched_yield(void)
{
	this_pcpu()->slice_end = SLICE_OVER;
	pcpu_resched(this_pcpu());
}
