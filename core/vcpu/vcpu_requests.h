/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that make requests to vcpus (core/vcpu/requests.h). */
#ifndef CORE_VCPU_VCPU_REQUESTS_H
#define CORE_VCPU_VCPU_REQUESTS_H

#include "core/vcpu/vcpu.h"

/* Makes a request (REQ_*) and notifies the home. Any hart may call it. */
void vcpu_request(struct vcpu *vcpu, uint64_t what);

/* Makes a request whose arrival the guest can count (REQ_GOT_*). Any hart may call it. */
void vcpu_send(struct vcpu *vcpu, uint64_t what, uint32_t kind);

#endif
