/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The run state of a vcpu: the reasons that block it, the reasons for which it gets a turn although
 * it is blocked, and the time that runs meanwhile. Only these functions, and those of sched.h that
 * run_state.c defines, change it, and with it pcpu->ready.
 *
 *                vcpu_unblock()                sched_wait()
 *            OFF -------------->  not blocked --------------> WAIT
 *                <--------------              <--------------
 *                  sched_off()     |      ^     an interrupt
 *            (from any state)      |      |
 *          its budget is spent     v      |  the period ends, or it wakes from WFI:
 *                                  BUDGET      then its budget is checked at its turn
 *
 * OUTPUT is like WAIT, but only REQ_OUTPUT ends it. No time runs for a vcpu that is blocked by WAIT
 * or OUTPUT, even if its budget is spent, and the end of either ends BUDGET, too. Beside these,
 * whatever else blocks it: MOVE from vcpu_hand_over() to vcpu_arrive(). The other reasons stay
 * meanwhile, so afterwards the vcpu is in the same state as before.
 *
 *     blocked by  ready  wake time             requests.enabled        time
 *     nothing     yes    deadlines             AT_ONCE; resident: ALL  steal; resident: CPU
 *     WAIT        no     timer, deadlines      AT_ONCE START STOP,     none
 *                                              those that wake
 *     OUTPUT      no     never                 AT_ONCE START STOP      none
 *     OFF         no     never                 AT_ONCE START STOP      none
 *     BUDGET      no     the end of its period AT_ONCE START STOP      throttled
 *     MOVE        no     never                 AT_ONCE                 steal goes on
 *
 * With a turn, a vcpu that is blocked by WAIT, OUTPUT, OFF or BUDGET is ready as well. For
 * TURN_REQUESTS steal time runs, which is dropped if the vcpu is still blocked after its turn. For
 * TURN_WORK no time runs, and requests.enabled is AT_ONCE.
 *
 * A vcpu outside its windows is *away*. That changes nothing of this: it is not in pcpu->present,
 * and so gets no turns, is not woken, and its times go on. A turn to a window changes masks of the
 * hart, whatever the number of vcpus (core/sched/windows.c).
 *
 * All functions are called on the vcpu's home hart.
 */
#ifndef CORE_SCHED_RUN_STATE_H
#define CORE_SCHED_RUN_STATE_H

#include "core/vcpu/vcpu.h"
#include "vpmu/bits.h"

/* --- reasons ------------------------------------------------------------------------------- */

/* Makes the hart's masks follow the reasons of a vcpu that is ready in its windows, or may not be
 * any more. */
static inline void run_state_take(const struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	uint64_t bit = vcpu->bit;

	pcpu->willing |= bit;
	pcpu->ready |= bit & pcpu->present;
}
static inline void run_state_put(struct vcpu *vcpu)
{
	struct pcpu *pcpu = vcpu->home;
	uint64_t others = ~vcpu->bit;

	if (run_state_ready(&vcpu->run))
		return;
	pcpu->willing &= others;
	pcpu->ready &= others;
	pcpu->steal_at_load &= others;
}

/* Adds reasons that block the vcpu (BLOCK_*). The times that run do not change. */
static inline void vcpu_block(struct vcpu *vcpu, uint8_t why)
{
	vcpu->run.blocked |= why;
	run_state_put(vcpu);
}

/* Takes reasons away. If none is left, the vcpu is ready, and has steal time if it is not
 * resident. */
void vcpu_unblock(struct vcpu *vcpu, uint8_t why);

/* The turn for requests has come, or the work is done (TURN_*). */
static inline void vcpu_turn_over(struct vcpu *vcpu, uint8_t why)
{
	vcpu->run.turns &= (uint8_t)~why;
	run_state_put(vcpu);
}

/* --- steal time ---------------------------------------------------------------------------- */

/*
 * Begins steal time: the vcpu is ready and another one is resident. vcpu_steal_at_load() ends it.
 * There is no steal time while the hart is idle or about to load the only ready vcpu: vcpus that
 * became ready then are in pcpu->steal_at_load until a vcpu is loaded. That of a vcpu outside its
 * windows begins at once.
 */
static inline void vcpu_steal_begin(struct vcpu *vcpu, uint64_t now)
{
	if (!vcpu->stats.steal_since)
		vcpu->stats.steal_since = now;
}

/* Ends its steal time, which has begun. Returns it. */
static inline uint64_t vcpu_steal_end(struct vcpu *vcpu, uint64_t now)
{
	uint64_t taken = now - vcpu->stats.steal_since;

	vcpu->stats.steal_ticks += taken;
	vcpu->stats.steal_since = 0;
	return taken;
}

/* The vcpu had no guest to run: its steal time so far does not count. */
static inline void vcpu_steal_drop(struct vcpu *vcpu)
{
	vcpu->home->steal_at_load &= ~vcpu->bit;
	vcpu->stats.steal_since = 0;
}

/* The vcpu becomes resident: ends its steal time, and begins that of other ready vcpus. */
static inline __attribute__((always_inline)) void
vcpu_steal_at_load(struct pcpu *pcpu, struct vcpu *vcpu, uint64_t now)
{
	uint64_t begins = pcpu->steal_at_load;
	uint32_t i;

	if (vcpu->stats.steal_since)
		(void)vcpu_steal_end(vcpu, now);
	if (begins) {
		pcpu->steal_at_load = 0;
		for_each_bit (i, begins & pcpu->ready & ~vcpu->bit)
			vcpu_steal_begin(pcpu->vcpus[i], now);
	}
}

/* --- throttled time ------------------------------------------------------------------------ */

/* Ends its throttled time, which has begun. */
static inline void vcpu_throttled_end(struct vcpu *vcpu, uint64_t at)
{
	vcpu->budget.throttled_ticks += at - vcpu->budget.throttled_since;
	vcpu->budget.throttled_since = 0;
}

/* The vcpu is ready again at the end of its period: throttled time ends when its steal time begins,
 * or, on an idle hart, at the load. If the period ended outside its windows, at `ended`, steal time
 * has run since then. */
static inline void vcpu_throttled_released(struct vcpu *vcpu, uint64_t ended)
{
	if (ended <= vcpu->home->turned_at)
		vcpu->stats.steal_since = ended;
	vcpu_unblock(vcpu, BLOCK_BUDGET);
	if (vcpu->stats.steal_since)
		vcpu_throttled_end(vcpu, vcpu->stats.steal_since);
}

/* Its window begins, not before the end of its period: its budget is checked again at its turn, and
 * the time since that end is steal time. */
static inline void vcpu_throttled_to_steal(struct vcpu *vcpu)
{
	vcpu->stats.steal_since = vcpu->budget.throttled_since;
	vcpu->budget.throttled_since = 0;
	vcpu_unblock(vcpu, BLOCK_BUDGET);
}

/* The reverse, at its turn: its budget is spent, so it leaves, and its steal time, if any, was
 * throttled time. */
static inline void vcpu_steal_to_throttled(struct vcpu *vcpu, uint64_t now)
{
	uint64_t since = vcpu->stats.steal_since;

	vcpu->budget.throttled_since = since ? since : now;
	vcpu_steal_drop(vcpu);
	vcpu_block(vcpu, BLOCK_BUDGET);
}

#endif
