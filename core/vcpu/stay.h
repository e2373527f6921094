/* SPDX-License-Identifier: Apache-2.0 */
/* The current stay in HS, and the vcpu that it is accounted to. */
#ifndef CORE_VCPU_STAY_H
#define CORE_VCPU_STAY_H

#include "arch/riscv/hart/context.h"
#include "core/hart/pcpu.h"

/* Accounts the current stay in HS so far, and begins a new one. Called on this hart. */
void pcpu_account_stay(struct pcpu *pcpu);

/* Accounts the current stay to this vcpu and cause from now on. Called on the vcpu's home hart. */
void pcpu_account_to(struct pcpu *pcpu, struct vcpu *vcpu, enum vcpu_exit why);

#endif
