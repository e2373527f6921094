/* SPDX-License-Identifier: Apache-2.0 */
/* The vPMU's calls to the scheduler, a higher room, which defines this function. */
#ifndef CORE_PMU_PORT_H
#define CORE_PMU_PORT_H

#include "core/vcpu/vcpu.h"

/* The resident vcpu has spent its budget, and leaves the hart at the end of this stay. */
void vcpu_budget_spent(struct vcpu *vcpu);

#endif
