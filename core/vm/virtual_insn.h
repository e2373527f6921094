/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that trap because V = 1: WFI and the CSRs of the PMU. */
#ifndef CORE_VM_VIRTUAL_INSN_H
#define CORE_VM_VIRTUAL_INSN_H

#include "core/vm/vcpu.h"

/* The resident vcpu's virtual-instruction exception. What a hart without the H extension does not
 * have becomes an illegal instruction for the guest. */
enum vcpu_exit virtual_insn(struct vcpu *vcpu);

#endif
