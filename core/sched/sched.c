/* SPDX-License-Identifier: Apache-2.0 */
/* Time slices: which vcpu runs next, and the world switch. */
#include "arch/riscv/hart/csr.h"
#include "core/sched/port.h"
#include "core/sched/run_state.h"
#include "core/sched/vcpu_budget.h"
#include "core/sched/world_switch.h"
#include "core/vcpu/stay.h"
#include "core/hart/roam.h"
#include "core/sched/sched_parts.h"
#include "core/sched/vcpu_move.h"
#include "core/sched/windows.h"
#include "core/vcpu/hart_flags.h"
#include "core/vcpu/trap_loop.h"
#include "core/vcpu/vm.h"
#include "vpmu/bits.h"

/* Round robin: returns the next ready vcpu after the last one. */
static struct vcpu *choose(const struct pcpu *pcpu)
{
	uint64_t after = pcpu->ready & -(pcpu->last << 1);

	return pcpu->vcpus[lowest_bit(after ? after : pcpu->ready)];
}

/* Whether requests were left pending, which would interrupt the first instruction of a window. */
static bool left_pending(const struct pcpu *pcpu)
{
	return pcpu->has_schedule && atomic_load_explicit(&pcpu->notified, memory_order_relaxed);
}

bool sched_next_stay(struct pcpu *pcpu)
{
	uint64_t pending, came = 0;

	/* The first round may switch windows and leave requests pending: a second serves them. */
	for (uint32_t n = 0; n == 0 || (n == 1 && left_pending(pcpu)); n++) {
		pcpu->last_irq_check = pcpu_account_stay(pcpu);
		pending = pcpu_pending_interrupts(pcpu);
		came |= pending;
		if (pending)
			pcpu_interrupts(pcpu, pending);
		came |= sched_check_notified(pcpu);
	}
	return came;
}

/* Waits until a vcpu is ready, and returns the host time. No vcpu is resident. Idle time is not
 * accounted as a stay in HS. Not inlined, because sched_next() would save more registers. */
static __attribute__((noinline)) uint64_t idle(struct pcpu *pcpu)
{
	/* The timer of the last vcpu is still in the hart, and must not end this WFI. */
	csr_write(CSR_VSIE, 0);
	if (pcpu->has_schedule)
		windows_idle(pcpu);
	do { /* WAITS */
		sched_set_timer(pcpu, NULL);
		(void)pcpu_account_stay(pcpu);
		if (!atomic_load(&pcpu->notified))
			wfi();
		pcpu->last_irq_check = pcpu_top(pcpu)->stay_start = csr_read(CSR_INSTRET);
		pcpu_interrupts(pcpu, pcpu_pending_interrupts(pcpu));
		sched_check_notified(pcpu);
		/* Rarely repeated: as a likely loop it would need six more registers. */
	} while (__builtin_expect(!pcpu->ready || left_pending(pcpu), 0));
	return csr_read(CSR_TIME);
}

/*
 * Serves the requests of a vcpu in its own time slice, on its own account. Returns false if it
 * cannot run or work now: it was ready only for its requests, is off, or has moved away.
 */
static __attribute__((noinline)) bool serve_turn(struct pcpu *pcpu, struct vcpu *vcpu)
{
	if (!pcpu_may_begin(pcpu)) {
		requests_disable(&vcpu->requests);
		sched_set_timer(pcpu, NULL);
		(void)sched_next_stay(pcpu);
		return false;
	}
	pcpu_account_to(pcpu, vcpu, EXIT_IRQ);
	vcpu_turn_over(vcpu, TURN_REQUESTS);
	pcpu->last = vcpu->bit;
	if (vcpu_serve_turn(vcpu)) {
		if (!vcpu->run.blocked || sched_has_life_work(vcpu)) {
			/* The vcpu may have been woken. Requests that came meanwhile are served as
			 * a notification. */
			if (requests_enable(&vcpu->requests, REQ_ALL))
				pcpu_notify(pcpu, vcpu->bit);
			return true;
		}
		/* Requests that came meanwhile may have given it another turn. */
		if (!vcpu->run.turns) {
			vcpu_steal_drop(vcpu);
			sched_enable_requests(vcpu);
		}
	}
	(void)sched_next_stay(pcpu);
	return false;
}

/* For a vcpu that works or has a budget: returns whether its guest runs now. Not inlined, because
 * it is rare. */
static __attribute__((noinline)) bool may_run(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	if (!(vcpu->run.turns & TURN_WORK))
		return vcpu_budget_check(vcpu, now);
	sched_do_life_work(pcpu, vcpu);
	return false;
}

/* Returns the next vcpu that has a guest to run. *now, the host time, is updated after long
 * work. */
static struct vcpu *next_to_run(struct pcpu *pcpu, uint64_t *now)
{
	for (;; *now = csr_read(CSR_TIME)) { /* WAITS */
		if (!pcpu->ready)
			*now = idle(pcpu);
		struct vcpu *vcpu = choose(pcpu);

		/* From here on, all requests to the vcpu interrupt this hart. */
		if (requests_enable(&vcpu->requests, REQ_ALL) && !serve_turn(pcpu, vcpu))
			continue;
		if (!vcpu->run.checked || may_run(pcpu, vcpu, *now))
			return vcpu;
	}
}

/* Additional steps for a vcpu that is alone on its hart, roams, or has a window. It was loaded at
 * host time `now`. */
static __attribute__((noinline)) void loaded_unshared(struct pcpu *pcpu, struct vcpu *vcpu,
                                                      uint64_t now)
{
	if (pcpu->n_vcpus == 1)
		vcpu_trap_wfi(vcpu, !vcpu_may_sleep(vcpu));
	/* While OF bits are being made, the vcpu would move before its guest continues. In that
	 * case long_call_finish() lets it roam. */
	if (vcpu->call.slice != hart_flags_slice)
		roam(vcpu);
	if (pcpu->has_schedule)
		windows_vcpu_loaded(pcpu, vcpu, now);
}

static void load(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	vcpu_steal_at_load(pcpu, vcpu, now);
	pcpu->slice_end = now + vcpu->slice;
	if (atomic_load_explicit(&vcpu->vm->debt_ticks, memory_order_relaxed))
		sched_charge_debt(pcpu, vcpu);
	vcpu_cpu_time_start(&vcpu->stats, now);
	vcpu_load(pcpu, vcpu);
	if (!pcpu->time_shared)
		loaded_unshared(pcpu, vcpu, now);
}

/* Handles a vcpu that leaves the hart blocked, throttled or off. Not inlined, because switch_vcpu()
 * would save more registers. */
static __attribute__((noinline)) void put_not_ready(struct pcpu *pcpu, struct vcpu *vcpu,
                                                    uint64_t now)
{
	vcpu->stats.left_at = now;
	if (vcpu->run.blocked & BLOCK_WAIT)
		sched_wake_in_time(vcpu);
	else if (vcpu->budget.throttled_since)
		/* CPU time ends and throttled time begins now, so that no tick counts as both. */
		vcpu->budget.throttled_since = now;
	if (!(pcpu->ready & vcpu->bit))
		sched_enable_requests(vcpu);
}

/* Not inlined, like idle(). */
static __attribute__((noinline)) void put_moving(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	if (!(pcpu->ready & vcpu->bit))
		put_not_ready(pcpu, vcpu, now);
	/* The destination of a move may be the present home. */
	if (!vcpu_hand_over(vcpu) && pcpu->ready & vcpu->bit)
		vcpu_steal_begin(vcpu, now);
}

/* Takes the current vcpu off the hart. */
static inline __attribute__((always_inline)) void put(struct pcpu *pcpu, struct vcpu *vcpu,
                                                      uint64_t now)
{
	vcpu_cpu_time_stop(&vcpu->stats, now);
	vcpu_put(pcpu, vcpu);
	pcpu->last = vcpu->bit;
	if (vcpu_wants_to_move(vcpu)) {
		put_moving(pcpu, vcpu, now);
		return;
	}
	if (pcpu->ready & vcpu->bit)
		vcpu_steal_begin(vcpu, now);
	else
		put_not_ready(pcpu, vcpu, now);
}

/* Whether the resident vcpu could keep the hart if its slice were longer. */
static inline bool can_stay(const struct pcpu *pcpu, const struct vcpu *vcpu)
{
	return (pcpu->ready & vcpu->bit) && !vcpu_wants_to_move(vcpu);
}

/* Whether the resident vcpu keeps the hart: its slice goes on, or it gets another one because no
 * other vcpu is ready. */
static inline bool keeps_hart(struct pcpu *pcpu, const struct vcpu *vcpu, uint64_t now)
{
	if (!can_stay(pcpu, vcpu))
		return false;
	if (now < pcpu->slice_end)
		return true;
	if (pcpu->ready != vcpu->bit)
		return false;
	pcpu->slice_end = now + vcpu->slice;
	return true;
}

static inline __attribute__((always_inline)) void update_delegation(struct pcpu *pcpu,
                                                                    const struct vcpu *vcpu)
{
	/* Usually no vcpu is a suspect. */
	if (__builtin_expect(pcpu->trap_loop_suspect == vcpu->trap_loop_suspect, 1))
		return;
	pcpu->trap_loop_suspect = vcpu->trap_loop_suspect;
	vs_delegate(!pcpu->trap_loop_suspect);
}

static inline __attribute__((always_inline)) struct vcpu *enter(struct pcpu *pcpu,
                                                                struct vcpu *vcpu)
{
	pcpu_top(pcpu)->pending = 0;
	sched_set_timer(pcpu, vcpu);
	return vcpu;
}

/* The world switch. `last` is the resident vcpu; NULL: none. Not inlined, so that sched_next()
 * saves no registers. */
static __attribute__((noinline)) struct vcpu *switch_vcpu(struct pcpu *pcpu, struct vcpu *last,
                                                          uint64_t now)
{
	struct vcpu *vcpu;

	if (last)
		put(pcpu, last, now);
	vcpu = next_to_run(pcpu, &now);
	load(pcpu, vcpu, now);
	update_delegation(pcpu, vcpu);
	return enter(pcpu, vcpu);
}

void sched_finish_entry(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t calm_until)
{
	uint64_t next;

	update_delegation(pcpu, vcpu);
	pcpu_top(pcpu)->pending = 0;
	next = sched_next_event(pcpu, vcpu);
	sched_set_host_timer(pcpu, next < calm_until ? calm_until : next);
}

/* A window has ended, or a guard begins. The resident vcpu leaves as at the end of a slice. */
static __attribute__((noinline)) struct vcpu *next_window(struct pcpu *pcpu, struct vcpu *vcpu,
                                                          uint64_t now)
{
	trap_loop_check(vcpu);
	put(pcpu, vcpu, now);
	windows_switch(pcpu, now);
	/* Requests, and timers that expired outside the windows that begin. */
	if (left_pending(pcpu) || wake_times_earliest(pcpu->wake) <= now) {
		sched_set_timer(pcpu, NULL);
		(void)sched_next_stay(pcpu);
		now = csr_read(CSR_TIME);
	}
	return switch_vcpu(pcpu, NULL, now);
}

/* Whether the vcpu's time is over, but the switch is postponed to the next stay. A vcpu that yields
 * to another one is not kept. */
static bool postpones_switch(struct pcpu *pcpu, const struct vcpu *vcpu, uint64_t now)
{
	if (pcpu->stay_work == STAY_SWITCH_POSTPONED || !(pcpu->stay_work || pcpu->has_schedule) ||
	    pcpu_may_begin(pcpu))
		return false;
	if (pcpu->slice_end == SLICE_OVER && pcpu->ready != vcpu->bit)
		return false;
	return (now >= pcpu->slice_end || (pcpu->has_schedule && windows_switch_due(pcpu, now))) &&
	       can_stay(pcpu, vcpu);
}

/* The rare cases of sched_next(): the resident vcpu has steal time to end; it or the last vcpu is a
 * suspect or seems to be one; or the hart has a schedule, other work in this stay, or a switch put
 * off from the last one. */
static __attribute__((noinline)) struct vcpu *next_slow(struct pcpu *pcpu, struct vcpu *vcpu,
                                                        uint64_t now)
{
	if (vcpu->stats.steal_since)
		sched_end_steal(pcpu, vcpu, now);
	if (postpones_switch(pcpu, vcpu, now)) {
		pcpu->stay_work = STAY_SWITCH_POSTPONED;
		update_delegation(pcpu, vcpu);
		return enter(pcpu, vcpu);
	}
	pcpu->stay_work = 0;
	if (pcpu->has_schedule && windows_switch_due(pcpu, now))
		return next_window(pcpu, vcpu, now);
	if (now >= pcpu->slice_end)
		trap_loop_check(vcpu);
	if (!keeps_hart(pcpu, vcpu, now))
		return switch_vcpu(pcpu, vcpu, now);
	update_delegation(pcpu, vcpu);
	return enter(pcpu, vcpu);
}

struct vcpu *sched_next(struct pcpu *pcpu)
{
	struct vcpu *vcpu = pcpu->current;
	uint64_t now = csr_read(CSR_TIME);

	if (vcpu) {
		if (vcpu->stats.steal_since || vcpu->trap_loop_suspect || pcpu->sched_flags ||
		    (now >= pcpu->slice_end && trap_loop_is_possible()))
			return next_slow(pcpu, vcpu, now);
		if (keeps_hart(pcpu, vcpu, now))
			return enter(pcpu, vcpu);
	}
	return switch_vcpu(pcpu, vcpu, now);
}
