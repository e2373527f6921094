/* SPDX-License-Identifier: Apache-2.0 */
/* How requests to vcpus (core/vcpu/requests.h) are sent, and how each one is served. */
#ifndef CORE_DISPATCH_VCPU_REQUESTS_H
#define CORE_DISPATCH_VCPU_REQUESTS_H

#include "core/vcpu/vcpu.h"

/* Makes a request (REQ_*) and notifies the home. Any hart may call it. */
void vcpu_request(struct vcpu *vcpu, uint64_t what);

/* Makes a request that the guest can count when it arrives (REQ_GOT_*). Any hart may call it. */
void vcpu_send(struct vcpu *vcpu, uint64_t what, uint32_t kind);

/* Serves the requests to a vcpu for which this hart was notified, as far as they cannot wait for
 * its time slice. If the vcpu has just left this hart, its home is notified instead. */
void vcpu_serve_notified(struct vcpu *vcpu);

/* Serves all requests when the vcpu's time slice begins. Returns false if it belongs to another
 * hart now. The vcpu is not resident. Home hart only. */
bool vcpu_serve_turn(struct vcpu *vcpu);

/* Serves pending fences in the middle of an exit. The vcpu is resident. */
void vcpu_serve_fences(struct vcpu *vcpu);

#endif
