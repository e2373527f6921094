/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mail between harts: what is due, and not there yet, is being sent by a hart that is in the middle
 * of something. When each of these has come to rest since, it is late.
 */
#include <string.h>

#include "arch/riscv/hart/csr.h"
#include "tests/host/machine/model.h"

static struct model_due mail[MACHINE_HARTS], requests[VM_MAX_ALL_VCPUS];
static uint64_t asked; /* bits of vcpus whose `requests` are on */

void model_mail_reset(void)
{
	memset(mail, 0, sizeof(mail));
	memset(requests, 0, sizeof(requests));
	asked = 0;
}

/* Requests that its home wants to hear of. If it has a turn for them, it knows. */
static uint64_t wanted(const struct vcpu *vcpu)
{
	uint64_t heard = vcpu->home->present & vcpu->bit ? REQ_ALL : REQ_OBSERVE;

	return vcpu->run.turns & TURN_REQUESTS
	           ? 0
	           : vcpu->requests.pending & vcpu->requests.enabled & heard;
}

/* Whether what is due may wait for the first instructions of a window: the hart's timer is two
 * ticks away at most, and it comes with that (core/sched/windows.h). */
static bool holds_off(const struct machine_hart *h)
{
	return machine.kind.schedules && machine_host_timer(h) <= machine.time + 2;
}

bool model_is_late(struct model_due *due)
{
	bool late = true;

	for (uint32_t i = 0; i < machine.kind.harts; i++) {
		const struct machine_hart *h = &machine.hart[i];
		bool rests = h->rests || !h->started;

		if (!due->on)
			due->rested[i] = h->rested;
		late &= (rests || h->rested != due->rested[i]) && !holds_off(h);
	}
	due->on = true;
	return late;
}

/* What was served has come. Before each access that others can see: none of these is missed. */
void model_mail_served(void)
{
	const struct pcpu *pcpu = this_pcpu();

	if (!pcpu->notified)
		mail[machine.now].on = false;
	for (uint64_t left = asked; left; left &= left - 1) {
		const struct vcpu *vcpu = pcpu->vcpus[__builtin_ctzl(left)];

		if (vcpu && (vcpu->home != pcpu || !wanted(vcpu))) {
			requests[vcpu->index].on = false;
			asked &= ~vcpu->bit;
		}
	}
}

/*
 * A hart has no mail in its box, nor a request to one of its vcpus that it wants to hear of: it
 * would have been interrupted before its guest goes on.
 */
void model_mail_step(const struct machine_hart *h)
{
	struct pcpu *pcpu = this_pcpu();

	model_mail_served();
	if (pcpu->notified && model_is_late(&mail[machine.now]))
		machine_differs("hart %lu has mail, %lx, and was not told", h->id, pcpu->notified);
	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		const struct vcpu *vcpu = pcpu->vcpus[i];

		if (vcpu->home != pcpu || !wanted(vcpu))
			continue;
		asked |= vcpu->bit;
		if (model_is_late(&requests[i]))
			machine_differs("requests %lx to vm%u vcpu %u lie at its home, hart %lu",
			                wanted(vcpu), vcpu->vm->index, vcpu->id, h->id);
	}
}
