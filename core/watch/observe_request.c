/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers the operator's requests about observers to the home harts, and collects the results. */
#include "arch/riscv/hart/csr.h"
#include "core/hart/check.h"
#include "core/hart/platform.h"
#include "core/vcpu/vm.h"
#include "core/watch/account.h"
#include "core/watch/observe.h"
#include "core/watch/stays.h"
#include "vpmu/bits.h"

/* A request is served 1/MOMENT_HZ seconds after it was posted, by the timers of the harts. On most
 * machines an IPI takes less, so they all read at the same time. And the hart that has posted it
 * serves it in a stay of its own. */
#define MOMENT_HZ 20000UL

struct observe_request observe_request;

void observe_post(enum observe_what what, uint64_t vcpus)
{
	uint32_t i;

	observe_request.what = what;
	observe_request.at = csr_read(CSR_TIME);
	/* Recording begins and ends at once, for each vcpu after the other. */
	if (what < OBSERVE_STAYS)
		observe_request.at += platform.timebase / MOMENT_HZ;
	atomic_store(&observe_request.vcpus, vcpus);
	for_each_bit (i, vcpus)
		vcpu_request(this_pcpu()->vcpus[i], REQ_OBSERVE);
}

uint64_t observe_vcpus(uint32_t of_vms)
{
	const struct pcpu *pcpu = this_pcpu();
	uint64_t found = 0;

	for (uint32_t i = 0; i < MAX_HART_VCPUS && pcpu->vcpus[i]; i++) {
		if (of_vms >> pcpu->vcpus[i]->vm->index & 1 && pcpu->vcpus[i]->observers.n)
			found |= BIT(i);
	}
	return found;
}

static bool is_requested(const struct observer *o)
{
	return o->number && (!observe_request.number || o->number == observe_request.number) &&
	       (!observe_request.client ||
	        o->number >> OBSERVE_CLIENT_SHIFT == observe_request.client);
}

static void done(const struct vcpu *vcpu)
{
	atomic_fetch_and(&observe_request.vcpus, ~vcpu->bit);
}

/* Reads the observers of the request. */
static void look(struct vcpu *vcpu, uint64_t now)
{
	struct observer *told = vcpu->observers.copies;

	vcpu_take_samples(vcpu);
	vcpu->observers.read_at = now;
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		const struct observer *o = &vcpu->observers.observer[n];

		told[n].number = is_requested(o) ? o->number : 0;
		if (told[n].number)
			observer_read(vcpu, n, now);
	}
}

/* Copies them for the client. */
static void tell(struct vcpu *vcpu)
{
	struct observer *told = vcpu->observers.copies;

	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		if (told[n].number)
			told[n] = vcpu->observers.observer[n];
	}
}

/* Whether the time of the request has come for the vcpu. That of an earlier request came before
 * this one was posted. */
static bool is_due(const struct vcpu *vcpu)
{
	return vcpu->observers.due_at >= observe_request.at;
}

/* Not inlined, because it is rare. */
__attribute__((noinline)) void observe_finish(struct vcpu *vcpu)
{
	if (observe_request.what != OBSERVE_READ || !is_due(vcpu))
		return;
	if (vcpu->observers.read_at != vcpu->observers.due_at)
		look(vcpu, vcpu->observers.due_at);
	/* The client finds in the rings as many samples as it is told. This is called again
	 * then. */
	if (vcpu->observers.chain.due)
		return;
	tell(vcpu);
	done(vcpu);
}

void observe_arrive(struct vcpu *vcpu)
{
	/* The old home has taken the request, and would have served it at the moment. */
	if (atomic_load(&observe_request.vcpus) & vcpu->bit)
		vcpu_request(vcpu, REQ_OBSERVE);
}

/*
 * Each vcpu is served on its account, in a stay of its own. Only the vcpu that this stay is
 * accounted to can count something in it, so it is read now: the others before they run, and before
 * anything else is accounted to them (observe_before()). A vcpu that is moving here does not run
 * either; one that has moved away is served by its new home, see observe_arrive().
 */
void observe_poll(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t now = csr_read(CSR_TIME), later = 0;
	uint32_t i;

	CHECK(!pcpu->current || pcpu->current == pcpu->stay_vcpu);
	external_poll_at(EXTERNAL_OBSERVE, ~0UL);
	for_each_bit (i, atomic_load(&observe_request.vcpus)) {
		struct vcpu *vcpu = pcpu->vcpus[i];

		if (vcpu_home(vcpu) != pcpu || is_due(vcpu))
			continue;
		vcpu->observers.due_at = now;
		if (vcpu == pcpu->stay_vcpu && observe_request.what == OBSERVE_READ) {
			observe_finish(vcpu);
			continue;
		}
		atomic_fetch_or(&vcpu->requests.pending, REQ_OBSERVE);
		later |= vcpu->bit;
	}
	if (later)
		pcpu_interrupt(pcpu, later);
}

/* Ends one observer in each stay. Returns false if there are more. */
static bool end_next(struct vcpu *vcpu)
{
	uint32_t n = 0;

	while (n < VPMU_OBSERVERS && !is_requested(&vcpu->observers.observer[n]))
		n++;
	if (n == VPMU_OBSERVERS)
		return true;
	observer_end(vcpu, n);
	vcpu_request(vcpu, REQ_OBSERVE);
	return false;
}

static void begin_or_end(struct vcpu *vcpu)
{
	if (observe_request.what == OBSERVE_END && !end_next(vcpu))
		return;
	if (observe_request.what == OBSERVE_BEGIN)
		observer_begin(vcpu, observe_request.number, &observe_request.event);
	if (observe_request.what == OBSERVE_BEGIN || observe_request.what == OBSERVE_ROWS) {
		look(vcpu, csr_read(CSR_TIME));
		tell(vcpu);
	}
	if (observe_request.what == OBSERVE_ROWS)
		account_copy(vcpu);
	if (observe_request.what == OBSERVE_STAYS)
		stays_begin(vcpu);
	if (observe_request.what == OBSERVE_NO_STAYS)
		stays_end(vcpu);
	done(vcpu);
}

/* If another vcpu runs, it is the one to read in the stay of a late moment: the timer begins that.
 */
static bool must_wait(const struct vcpu *vcpu)
{
	const struct vcpu *runs = this_pcpu()->current;

	return csr_read(CSR_TIME) < observe_request.at || (runs && runs != vcpu);
}

void vcpu_serve_observers(struct vcpu *vcpu)
{
	if (!(atomic_load(&observe_request.vcpus) & vcpu->bit))
		return;
	if (is_due(vcpu)) {
		if (observe_request.what == OBSERVE_READ)
			observe_finish(vcpu);
		else
			begin_or_end(vcpu);
	} else if (must_wait(vcpu)) {
		external_poll_at(EXTERNAL_OBSERVE, observe_request.at);
	} else {
		observe_poll();
	}
}
