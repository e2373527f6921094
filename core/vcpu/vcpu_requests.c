/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vcpu/vcpu.h"

void vcpu_request(struct vcpu *vcpu, uint64_t what)
{
	if (!requests_make(&vcpu->requests, what))
		return;
	/* All harts of an observation wait for each other. */
	if (what & REQ_OBSERVE)
		pcpu_interrupt(vcpu_home(vcpu), vcpu->bit);
	else
		pcpu_notify(vcpu_home(vcpu), vcpu->bit);
}

void vcpu_send(struct vcpu *vcpu, uint64_t what, uint32_t kind)
{
	atomic_fetch_add(&vcpu->requests.got[kind], 1);
	vcpu_request(vcpu, what);
}
