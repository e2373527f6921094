/* SPDX-License-Identifier: Apache-2.0 */
/* How what the operator wants of observers comes to the harts of their vcpus, and what he is told.
 */
#include "arch/riscv/csr.h"
#include "core/vm/platform.h"
#include "core/vm/sched.h"
#include "core/vm/vcpu_requests.h"
#include "core/vm/vm.h"
#include "vpmu/bits.h"

/* Where several harts look, so long after the request: longer than an IPI takes on most machines.
 */
#define MOMENT_HZ 20000UL

struct observe_request observe_requests[OBSERVE_ASKERS];

/* When the harts of these vcpus look: now, but where another hart has to be told first. */
static uint64_t moment_of(uint64_t vcpus)
{
	uint64_t now = csr_read(CSR_TIME);
	uint32_t i;

	for_each_bit (i, vcpus) {
		if (vcpu_home(this_pcpu()->vcpus[i]) != this_pcpu())
			return now + platform.timebase / MOMENT_HZ;
	}
	return now;
}

void observe_post(struct observe_request *request, uint64_t vcpus)
{
	uint32_t i;

	request->at = moment_of(vcpus);
	atomic_store(&request->vcpus, vcpus);
	for_each_bit (i, vcpus)
		vcpu_request(this_pcpu()->vcpus[i], REQ_OBSERVE);
}

static bool is_of(const struct observer *o, const struct observe_request *request)
{
	return o->number && (!request->number || o->number == request->number);
}

static void done(struct observe_request *request, const struct vcpu *vcpu)
{
	atomic_fetch_and(&request->vcpus, ~vcpu->bit);
}

/* Tells those whom the request is of, as they are now. */
static void look(struct vcpu *vcpu, const struct observe_request *request, uint64_t now)
{
	size_t asker = (size_t)(request - observe_requests);
	struct observer *told = vcpu->observers.told[asker];

	vcpu->observers.told_at[asker] = now;
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		const struct observer *o = &vcpu->observers.observer[n];

		told[n].number = 0;
		if (!is_of(o, request))
			continue;
		observer_look(vcpu, n, now);
		told[n] = *o;
	}
}

/*
 * One stay: what the first of these vcpus counts stands still until the last one was looked at. One
 * that is on its way here from its old home stands still, too.
 */
static void look_at_all_here(struct observe_request *request)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t left = request->at - csr_read(CSR_TIME);
	uint64_t now;
	uint32_t i;

	/* Else the moment is over: it has wrapped. */
	if (left <= platform.timebase / MOMENT_HZ)
		sched_nap(left);
	now = csr_read(CSR_TIME);
	for_each_bit (i, atomic_load(&request->vcpus)) {
		if (vcpu_home(pcpu->vcpus[i]) != pcpu)
			continue;
		look(pcpu->vcpus[i], request, now);
		done(request, pcpu->vcpus[i]);
	}
}

static void begin_or_end(struct vcpu *vcpu, struct observe_request *request)
{
	if (request->what == OBSERVE_BEGIN) {
		observer_begin(vcpu, request->number, &request->event);
		look(vcpu, request, csr_read(CSR_TIME));
	}
	for (uint32_t n = 0; n < VPMU_OBSERVERS && request->what == OBSERVE_END; n++) {
		if (is_of(&vcpu->observers.observer[n], request))
			observer_end(vcpu, n);
	}
	done(request, vcpu);
}

void vcpu_serve_observers(struct vcpu *vcpu)
{
	for (uint32_t i = 0; i < OBSERVE_ASKERS; i++) {
		struct observe_request *request = &observe_requests[i];

		if (!(atomic_load(&request->vcpus) & vcpu->bit))
			continue;
		if (request->what == OBSERVE_LOOK)
			look_at_all_here(request);
		else
			begin_or_end(vcpu, request);
	}
}
