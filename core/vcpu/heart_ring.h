/* SPDX-License-Identifier: Apache-2.0 */
/* The heartbeat of a guest that has to ring (core/life/heart.h). */
#ifndef CORE_VCPU_HEART_RING_H
#define CORE_VCPU_HEART_RING_H

struct vm;

/* Records a ring of the guest. Any hart may call it. No effect for a VM without heartbeat-ms. */
void heart_ring(struct vm *vm);

#endif
