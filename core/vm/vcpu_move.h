/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vcpu moves to another of the harts that the VM tree allows it, with whatever it is doing:
 *
 *     any hart      vcpu_move()       says where to, and asks its home
 *     old home      vcpu_hand_over()  at its next world switch: everything of it leaves the hart,
 *                                     its counts first, and `home` is the new one
 *     new home      vcpu_arrive()     before anything else that was asked of it meanwhile
 *
 * In between nobody owns it and nothing runs it; requests wait in it, and mail that goes to the old
 * home is forwarded from there.
 */
#ifndef CORE_VM_VCPU_MOVE_H
#define CORE_VM_VCPU_MOVE_H

#include "core/vm/vcpu.h"

/* false: the VM tree does not allow it that hart. Any hart. */
bool vcpu_move(struct vcpu *vcpu, uint64_t hartid);

/* It is to leave its home for another hart. */
static inline bool vcpu_wants_away(const struct vcpu *vcpu)
{
	return __atomic_load_n(&vcpu->goal, __ATOMIC_RELAXED);
}

/* Wants away, and is not resident. true: it is another hart's now, which may give it back at any
 * moment: it is not to be touched. Home hart only. */
bool vcpu_hand_over(struct vcpu *vcpu) __attribute__((noinline, cold));

/* REQ_ARRIVE. New home only. */
void vcpu_arrive(struct vcpu *vcpu);

/* It is to leave for the next of its harts as soon as it can: how tests move vcpus often. Resident.
 */
void vcpu_roam(struct vcpu *vcpu) __attribute__((noinline, cold));

#endif
