/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI calls that would make a stay in HS too long. The function that serves the call does a first
 * slice, and names a function that does the others before the guest's next instruction. Each slice
 * is a stay of its own: between two slices HS takes interrupts, other vcpus run, the vcpu may move,
 * and its VM may end. For the guest the call is one instruction: the vcpu makes no other call
 * between two slices, and takes its own interrupts when the call is done. The whole call is
 * accounted to the vcpu as one ECALL. Setting OF bits (core/vcpu/hart_flags.h) takes slices, too,
 * and is accounted in the same way, although the guest made no call. The requests of an operator's
 * guest (core/operator/operator_rings.c) are slices after its store to the doorbell.
 */
#ifndef CORE_VCPU_LONG_CALL_H
#define CORE_VCPU_LONG_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "arch/riscv/hart/context.h"

struct pcpu;
struct vcpu;

/* Part of struct vcpu. Private to the home hart. */
struct long_call {
	/* Does one slice of at most some 3,000 instructions, while the vcpu is resident. Returns
	 * false after the last slice. The call returns the a0 and a1 of the first slice, unless a
	 * later one changes them. NULL: the vcpu has no long call. */
	bool (*slice)(struct vcpu *vcpu);
	/* Progress of the slices: the position and the rest, in units of slice(). */
	uint64_t at, left;
	/* The exit to which the slices are accounted: EXIT_ECALL is 0. */
	enum vcpu_exit cause;
	/* Of a store to a device, which is no long call: it is done in part, and the guest has to
	 * execute it again. */
	bool again;
};

/* Makes the resident vcpu's SBI call continue in slices. Called by the function that serves the
 * call. */
void long_call_begin(struct vcpu *vcpu, const struct long_call *call);

/* Does one slice of the call, and accounts it to the vcpu. Called on its home, pcpu; the vcpu is
 * resident. */
void long_call_slice(struct pcpu *pcpu, struct vcpu *vcpu);

#endif
