/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores outside a guest's memory: its devices, or an access fault. */
#ifndef CORE_VM_MMIO_H
#define CORE_VM_MMIO_H

#include "core/vm/vcpu.h"

/* A guest page fault of the resident vcpu, whose address is in htval and stval. Injects an access
 * fault where there is no device, as a hart without one would. */
void mmio_access(struct vcpu *vcpu, bool store);

#endif
