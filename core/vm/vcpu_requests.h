/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to vcpus (core/vm/requests.h): how they are sent, and what is done about each. */
#ifndef CORE_VM_VCPU_REQUESTS_H
#define CORE_VM_VCPU_REQUESTS_H

#include "core/vm/vcpu.h"

/* Asks something of a vcpu: REQ_*. Any hart. */
void vcpu_request(struct vcpu *vcpu, uint64_t what);

/* Sends what is counted where it arrives: REQ_GOT_*. Any hart. */
void vcpu_send(struct vcpu *vcpu, uint64_t what, uint32_t kind);

/* Its hart has mail for it: serves what has to be served now. Its home, or the hart that it has
 * just left, which passes the mail on. */
void vcpu_serve_mail(struct vcpu *vcpu);

/* Its turn has come: serves all that is asked. false: it is another hart's now. Not resident; home
 * hart. */
bool vcpu_serve_turn(struct vcpu *vcpu);

/* Takes the fences sent to it, in the middle of an exit. Resident. */
void vcpu_serve_fences(struct vcpu *vcpu);

#endif
