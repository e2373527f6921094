/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SBI call that is more work than one stay in HS may be. The function that serves it does a
 * first slice and names what does the others, which follow before the guest's next instruction:
 * each is a stay of its own, HS's interrupts and the turns of other vcpus come in between, and the
 * vcpu may move, or its VM end. For the guest it is one instruction, however long: nothing of its
 * own comes between two slices, so that no other call can be taken for the rest of this one, and an
 * interrupt of its own waits until it is done. All of it is accounted to the vcpu as the work of an
 * ECALL.
 */
#ifndef CORE_VM_LONG_CALL_H
#define CORE_VM_LONG_CALL_H

#include <stdbool.h>
#include <stdint.h>

struct vcpu;

/* Part of struct vcpu; the home hart's. */
struct long_call {
	/* Does a slice: at most some 10,000 instructions; false: it was the last. Resident. NULL:
	 * the vcpu has no such call. The results, a0 and a1 in its context, are those of the first
	 * slice unless this writes others. */
	bool (*slice)(struct vcpu *vcpu);
	/* For the slices: where they are, and how much is left. */
	uint64_t at, left;
};

/* The call that the resident vcpu makes goes on like that. To be called by the function that serves
 * it. */
void long_call_begin(struct vcpu *vcpu, const struct long_call *call);

/* Of the vcpu that sched_next() chose: all that is left of its call. Which vcpu to enter then. Not
 * for one without: call.slice is NULL. */
struct vcpu *long_call_finish(struct vcpu *vcpu);

#endif
