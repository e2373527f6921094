/* SPDX-License-Identifier: Apache-2.0 */
/* The way from HS into a guest. */
#ifndef CORE_DISPATCH_EXIT_H
#define CORE_DISPATCH_EXIT_H

#include "core/vcpu/vcpu.h"

/* Does what is left to do after sched_next(), and then the guest of the vcpu that it
 * returned, or of another one if that was in a long call. */
_Noreturn void exit_enter(struct pcpu *pcpu, struct vcpu *vcpu);

#endif
