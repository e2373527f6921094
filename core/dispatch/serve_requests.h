/* SPDX-License-Identifier: Apache-2.0 */
/* How requests to vcpus (core/vcpu/requests.h) are served. */
#ifndef CORE_DISPATCH_SERVE_REQUESTS_H
#define CORE_DISPATCH_SERVE_REQUESTS_H

#include "core/vcpu/vcpu.h"

/* Serves pending fences in the middle of an exit. The vcpu is resident. */
void vcpu_serve_fences(struct vcpu *vcpu);

#endif
