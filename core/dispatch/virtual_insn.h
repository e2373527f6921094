/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that trap because V = 1: WFI and the CSRs of the PMU. */
#ifndef CORE_DISPATCH_VIRTUAL_INSN_H
#define CORE_DISPATCH_VIRTUAL_INSN_H

#include "core/vcpu/vcpu.h"

/* Handles a virtual-instruction exception of the resident vcpu. An instruction that is illegal
 * without the H extension raises an illegal-instruction exception in the guest. */
enum vcpu_exit virtual_insn(struct vcpu *vcpu);

#endif
