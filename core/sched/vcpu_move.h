/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vcpu can move in any state to another of the harts that the VM tree allows:
 *
 *     any hart      vcpu_move()       sets `migrate_to` and notifies the home
 *     old home      vcpu_hand_over()  at the next world switch: saves the vcpu's state in the hart,
 *                                     counts first, and sets `home`
 *     new home      vcpu_arrive()     before it serves other requests to the vcpu
 *
 * In between no hart owns the vcpu and none runs it. Requests stay pending, and the old home
 * forwards notifications.
 */
#ifndef CORE_SCHED_VCPU_MOVE_H
#define CORE_SCHED_VCPU_MOVE_H

#include "core/vcpu/vcpu.h"

/* Requests a move. Returns false if the VM tree does not allow that hart. Any hart may call it. */
bool vcpu_move(struct vcpu *vcpu, uint64_t hartid);

/* Whether the vcpu shall leave its home for another hart. */
static inline bool vcpu_wants_to_move(const struct vcpu *vcpu)
{
	return __atomic_load_n(&vcpu->migrate_to, __ATOMIC_RELAXED);
}

/* Moves a vcpu that wants to move and is not resident. Returns true if another hart owns it now; it
 * may even be back here already, so the caller must not touch it any more. Home hart only. */
bool vcpu_hand_over(struct vcpu *vcpu) __attribute__((noinline, cold));

/* Serves REQ_ARRIVE. New home only. */
void vcpu_arrive(struct vcpu *vcpu);

#endif
