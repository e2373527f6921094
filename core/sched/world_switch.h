/* SPDX-License-Identifier: Apache-2.0 */
/* The switch from one vcpu to another. */
#ifndef CORE_SCHED_WORLD_SWITCH_H
#define CORE_SCHED_WORLD_SWITCH_H

#include "core/vcpu/vcpu.h"

/* Make the vcpu resident, or take it off the hart. Called on its home hart. */
void vcpu_load(struct pcpu *pcpu, struct vcpu *vcpu);
void vcpu_put(struct pcpu *pcpu, struct vcpu *vcpu);

#endif
