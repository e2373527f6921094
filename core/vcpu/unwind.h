/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains of guests, by their frame pointers. */
#ifndef CORE_VCPU_UNWIND_H
#define CORE_VCPU_UNWIND_H

#include "core/lib/types.h"

struct vcpu;

/*
 * Copies up to `most` return addresses, the innermost first, and returns their number. The vcpu is
 * resident or is just leaving, so vsatp is its own. `fp` is its s0; `user` is true if it was in VU.
 *
 * Frames have the layout of RISC-V compilers: below s0 are the return address and the caller's s0.
 * Frames and page tables are read only from the guest's RAM, so that no pointer written by the
 * guest makes HS access a device. The guest may change them meanwhile. At most UNWIND_WALKS pages
 * are translated, which bounds the work; then the chain ends.
 *
 * The chain also ends at the first word that cannot be an address of code. Unless that word is 0,
 * UNWIND_CUT is added to the number. The search does not continue beyond it, because that would not
 * be bounded. Words above -4096 are never code: they are error values of Linux' system calls, and
 * perf's marks between the parts of a chain.
 */
#define UNWIND_MOST  64U
#define UNWIND_WALKS 16U
#define UNWIND_CUT   BIT(10)
uint32_t unwind(const struct vcpu *vcpu, uint64_t fp, bool user, uint64_t *chain, uint32_t most);

/*
 * Returns the instruction at pc of a resident vcpu, in VU if `user`. The instruction and the page
 * tables must be in the VM's RAM. Returns 0 if there is none, or if the page is not executable.
 * Unlike the hart's own page-table walk, this never writes to the page table. Not inlined, because
 * it is rare.
 */
uint32_t unwind_insn(const struct vcpu *vcpu, uint64_t pc, bool user) __attribute__((noinline));

#endif
