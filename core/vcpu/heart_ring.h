/* SPDX-License-Identifier: Apache-2.0 */
/* A guest that has to ring (core/life/heart.h) rings. */
#ifndef CORE_VCPU_HEART_RING_H
#define CORE_VCPU_HEART_RING_H

struct vm;

/* The guest has rung. Any hart may call it; for a VM without heartbeat-ms it changes nothing. */
void heart_ring(struct vm *vm);

#endif
