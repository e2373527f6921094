/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains of guests, by their frame pointers. */
#ifndef CORE_VCPU_UNWIND_H
#define CORE_VCPU_UNWIND_H

#include "core/vcpu/observers.h"

struct vcpu;

/* Begins the chain of a vcpu that is resident or is just leaving, so vsatp is its own. s0 is in its
 * context. */
void unwind_begin(struct unwind *u, const struct vcpu *vcpu);

/*
 * Finds some more return addresses, the innermost first, and returns whether there are `most` or
 * all. A call takes some 1,000 instructions at most.
 *
 * Frames have the layout of RISC-V compilers: below s0 are the return address and the caller's s0.
 * Frames and page tables are read only from the guest's RAM, so that no pointer written by the
 * guest makes HS access a device. Others may change them meanwhile. At most UNWIND_WALKS pages
 * are translated, which bounds the work; then the chain ends.
 *
 * The chain also ends at the first word that cannot be an address of code; unless that word is 0,
 * it is cut. The search does not continue beyond it, because that would not be bounded. Words above
 * -4096 are never code: they are error values of Linux' system calls, and perf's marks between the
 * parts of a chain.
 */
#define UNWIND_WALKS 16U
bool unwind_more(struct unwind *u, uint64_t most);

/*
 * Returns the instruction at pc of a resident vcpu, in VU if `user`. The instruction and the page
 * tables must be in the VM's RAM. Returns 0 if there is none, or if the page is not executable.
 * Unlike the hart's own page-table walk, this never writes to the page table. Not inlined, because
 * it is rare.
 */
uint32_t unwind_insn(const struct vcpu *vcpu, uint64_t pc, bool user) __attribute__((noinline));

#endif
