/* SPDX-License-Identifier: Apache-2.0 */
/* A vcpu of a VM that ends. */
#ifndef CORE_LIFE_VCPU_REMOVE_H
#define CORE_LIFE_VCPU_REMOVE_H

#include "core/vcpu/vcpu.h"

/* The vcpu's VM has ended. Takes the vcpu off the hart for this life and resets its PMU. */
void vcpu_remove(struct vcpu *vcpu);

#endif
