/* SPDX-License-Identifier: Apache-2.0 */
/* The slices of a long call (core/vcpu/long_call.h), one after the other. */
#ifndef CORE_DISPATCH_LONG_CALL_RUN_H
#define CORE_DISPATCH_LONG_CALL_RUN_H

#include "core/vcpu/vcpu.h"

/* Finishes the call of the vcpu that sched_next() chose, whose call.slice is not NULL. Returns the
 * vcpu to enter, which may be another one. */
struct vcpu *long_call_finish(struct vcpu *vcpu);

#endif
