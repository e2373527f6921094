/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of an exit, from a guest and back into one. */
#ifndef CORE_DISPATCH_EXIT_H
#define CORE_DISPATCH_EXIT_H

#include "core/vcpu/vcpu.h"

/* Does the work left after sched_next(), and enters the vcpu that it returned, or another one if
 * that vcpu was in a long call. */
_Noreturn void exit_enter(struct pcpu *pcpu, struct vcpu *vcpu);

/* Handles a virtual-instruction exception of the resident vcpu: WFI and the CSRs of the PMU. An
 * instruction that is illegal without the H extension raises an illegal-instruction exception in
 * the guest. */
enum vcpu_exit virtual_insn(struct vcpu *vcpu);

/* Handles a guest-page fault of the resident vcpu, whose address is in htval and stval. If there is
 * no device at the address, the guest gets an access fault, as it would on a real machine. */
void mmio_access(struct vcpu *vcpu, bool store);

/* Serves pending fences in the middle of an exit. The vcpu is resident. */
void vcpu_serve_fences(struct vcpu *vcpu);

/* SGEI has come: messages to guest interrupt files that HS listens to. */
void guest_file_handle_irq(void);

#endif
