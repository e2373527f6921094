/* SPDX-License-Identifier: Apache-2.0 */
/* Who has called what a guest executes, by its frame pointers. */
#ifndef CORE_VCPU_UNWIND_H
#define CORE_VCPU_UNWIND_H

#include "core/lib/types.h"

struct vcpu;

/*
 * Copies up to `most` return addresses, the innermost first, and returns how many. The vcpu is
 * resident or is just leaving: vsatp is its own. `fp` is its s0, `user` is whether it was in VU.
 *
 * Frames are as compilers for RISC-V lay them out: below s0 are the return address and the caller's
 * s0. They and the guest's page tables are read as memory of its RAM, whatever they point to, so
 * that nothing that the guest has written can make HS touch a device. They may change meanwhile.
 * At most UNWIND_WALKS pages are translated, so the work is bounded; the chain then just ends.
 *
 * The first word that cannot be an address of code ends it too, and UNWIND_CUT is added to the
 * number, unless that word is 0. To go on behind it would not be bounded. Words above -4096 are
 * none of code: they are what Linux' system calls return for errors, and marks between the parts of
 * a chain for perf.
 */
#define UNWIND_MOST  64U
#define UNWIND_WALKS 16U
#define UNWIND_CUT   BIT(10)
uint32_t unwind(const struct vcpu *vcpu, uint64_t fp, bool user, uint64_t *chain, uint32_t most);

/*
 * Returns the instruction at pc of a resident vcpu, in VU or not, by tables in its RAM and from its
 * RAM alone. Returns 0 if there is none, or if the page is not executable. Unlike the hart's own
 * walk this never writes. Not inlined, because it is rare.
 */
uint32_t unwind_insn(const struct vcpu *vcpu, uint64_t pc, bool user) __attribute__((noinline));

#endif
