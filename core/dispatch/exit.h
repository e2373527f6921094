/* SPDX-License-Identifier: Apache-2.0 */
/* The entry from HS into a guest. */
#ifndef CORE_DISPATCH_EXIT_H
#define CORE_DISPATCH_EXIT_H

#include "core/vcpu/vcpu.h"

/* Does the work left after sched_next(), and enters the vcpu that it returned, or another one if
 * that vcpu was in a long call. */
_Noreturn void exit_enter(struct pcpu *pcpu, struct vcpu *vcpu);

#endif
