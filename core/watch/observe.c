/* SPDX-License-Identifier: Apache-2.0 */
#include "core/watch/observe.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/vcpu/hpm_failures.h"
#include "core/vcpu/vm.h"
#include "core/watch/account.h"
#include "core/watch/samples.h"
#include "core/watch/stays.h"
#include "vpmu/show.h"
#include "vpmu/tally_events.h"

static const char *const refusals[] = {
    [VPMU_OBSERVE_OK] = NULL,
    [VPMU_OBSERVE_NO_EVENT] = "not supported",
    [VPMU_OBSERVE_GUEST_USES] = "the guest counts something else on that counter",
    [VPMU_OBSERVE_OTHER_USES] = "another observer counts something else on that counter",
    [VPMU_OBSERVE_SILENT] = "the hart does not interrupt for that event",
};

static const char *const taken = "the guest needed that counter";

static bool is_fw(const struct observer *o)
{
	return SBI_PMU_EVENT_TYPE(o->event.event_idx) == SBI_PMU_TYPE_FW;
}

/* --- firmware events ----------------------------------------------------------------- */

static uint64_t fw_total(const struct vcpu *vcpu, uint32_t code)
{
	if (code < VPMU_FW_EVENTS && vcpu->vm->pmu_policy.fw_events >> code & 1)
		return vpmu_fw_seen(&vcpu->pmu, code);
	/* While the vcpu is resident, part of an M-mode count is still in the hart. */
	if (code < FW_EVENTS_M && !vcpu_is_current(vcpu))
		return vcpu->stats.fw_total[code];
	return vcpu_fw_total(vcpu, code);
}

/* The firmware counts the events that the guest counts and those that are observed. */
static void fw_watch(struct vcpu *vcpu)
{
	uint32_t codes = 0;

	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		const struct observer *o = &vcpu->observers.observer[n];

		if (o->number && !o->ended && is_fw(o) &&
		    SBI_PMU_EVENT_CODE(o->event.event_idx) < FW_EVENTS_M)
			codes |= 1U << SBI_PMU_EVENT_CODE(o->event.event_idx);
	}
	vcpu->stats.fw_observed = codes & vcpu->vm->pmu_policy.fw_port_events;
	codes = vpmu_fw_watched(&vcpu->pmu) | vcpu->stats.fw_observed;
	if (vcpu_is_current(vcpu))
		vcpu_fw_watch(vcpu, codes);
	else
		vcpu->stats.fw_watched = codes;
}

/* --- all events ---------------------------------------------------------------------- */

void observer_read(struct vcpu *vcpu, uint32_t n, uint64_t now)
{
	struct observer *o = &vcpu->observers.observer[n];

	if (!o->number || o->ended)
		return;
	o->until = now;
	if (is_fw(o)) {
		o->value = fw_total(vcpu, SBI_PMU_EVENT_CODE(o->event.event_idx)) - o->base;
		return;
	}
	if (!vpmu_observer_read(&vcpu->pmu, n, &o->value, &o->shared))
		o->ended = "the hart refuses that counter";
	else if (o->too_many)
		o->ended = "more samples than operator-samples-hz allows";
}

/* Returns why a vcpu cannot be sampled, or NULL if it can. */
static const char *no_samples(const struct vcpu *vcpu, const struct observed_event *event)
{
	const struct vpmu_policy *policy = &vcpu->vm->pmu_policy;
	const struct hpm *hpm = &vcpu->home->hpm;

	if (!hpm->hs_lcofi)
		return "its hart has no overflow interrupts";
	/* With flags_hidden, a counter that hcounteren closes does not show its OF. */
	if (!hpm->ssccfg && !hpm->flags_hidden)
		return "its hart has no overflow interrupts that the guest does not see";
	if (policy->hart_flags)
		return "the guest sees the overflows of its hart";
	if (policy->count_hs)
		return "its counters count HS as well";
	if (event->period < OBSERVE_LEAST_PERIOD || event->period >> (policy->width - 2))
		return "the period is too short or too long";
	return NULL;
}

/* After what may have started counters of the vcpu, before they are read. */
static void settle(struct vcpu *vcpu)
{
	if (vcpu_is_current(vcpu))
		hpm_failures_settle(vcpu);
}

void vcpu_take_samples(struct vcpu *vcpu)
{
	bool samples = false;

	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++)
		samples |=
		    vcpu->observers.observer[n].number && vcpu->observers.observer[n].event.period;
	if (samples && vcpu_is_current(vcpu))
		vpmu_overflow(&vcpu->pmu);
	settle(vcpu);
}

static const char *begin_hw(struct vcpu *vcpu, uint32_t n, const struct observed_event *event)
{
	const char *why = event->period ? no_samples(vcpu, event) : NULL;

	if (why)
		return why;
	why = refusals[vpmu_observe(&vcpu->pmu, vcpu_is_current(vcpu), n, event->event_idx,
	                            event->data, event->flags, event->period)];
	settle(vcpu);
	return why;
}

/* Sets the ticks from one sample to the next; the first ones begin now. */
static void begin_rate(const struct vcpu *vcpu, struct observer *o)
{
	uint64_t now;

	o->every = platform.timebase / o->event.hz;
	o->sampled_at = vcpu_cpu_time(&vcpu->stats, &now);
}

static bool is_by_hs_clock(const struct observer *o)
{
	return is_fw(o) && tally_event_is_by_hs_clock(SBI_PMU_EVENT_CODE(o->event.event_idx));
}

/* The guest's s0, where the chain begins, is saved at each exit only while it is needed. */
static void add_chains(struct pcpu *pcpu, uint32_t more)
{
	uint32_t before = pcpu->n_chain_observers;

	pcpu->n_chain_observers += more;
	if (!before != !pcpu->n_chain_observers)
		trap_record(pcpu->n_chain_observers || pcpu_top(pcpu)->recorded_vcpus);
}

void vcpu_observers_arrive(struct vcpu *vcpu)
{
	vcpu->home->n_observers += vcpu->observers.n;
	add_chains(vcpu->home, vcpu->observers.chains);
	stays_arrive(vcpu);
	observe_arrive(vcpu);
}

void vcpu_observers_leave(struct vcpu *vcpu)
{
	vcpu->home->n_observers -= vcpu->observers.n;
	add_chains(vcpu->home, -vcpu->observers.chains);
	stays_leave(vcpu);
}

/* Allocates an observer. Returns NULL if the vcpu or its hart has the maximum number of them. */
static struct observer *place(struct vcpu *vcpu)
{
	struct observer *o = vcpu->observers.observer;

	if (vcpu->observers.n == VPMU_OBSERVERS || vcpu->home->n_observers >= OBSERVERS_OF_HART)
		return NULL;
	while (o->number)
		o++;
	vcpu->observers.n++;
	vcpu->home->n_observers++;
	return o;
}

void observer_begin(struct vcpu *vcpu, uint32_t number, const struct observed_event *event)
{
	struct observer *o = place(vcpu);
	uint32_t code = SBI_PMU_EVENT_CODE(event->event_idx);

	if (!o)
		return;
	*o = (struct observer){
	    .number = number,
	    .event = *event,
	    .since = csr_read(CSR_TIME),
	    .rings = samples_rings(number >> OBSERVE_CLIENT_SHIFT),
	};
	o->until = o->since;
	if (event->hz)
		begin_rate(vcpu, o);
	if (event->depth) {
		vcpu->observers.chains++;
		add_chains(vcpu->home, 1);
	}
	if (is_fw(o) && event->period)
		o->ended = "only events of the hart can be sampled";
	else if (!is_fw(o))
		o->ended = begin_hw(vcpu, (uint32_t)(o - vcpu->observers.observer), &o->event);
	else if (!vpmu_fw_event_exists(&vcpu->vm->pmu_policy, code) || o->event.data ||
	         o->event.flags)
		o->ended = refusals[VPMU_OBSERVE_NO_EVENT];
	else if (is_by_hs_clock(o) && vpmu_started(&vcpu->pmu) & HCTRS_INSTRET)
		o->ended = refusals[VPMU_OBSERVE_GUEST_USES];
	else if (!o->event.account || !(o->ended = account_begin(vcpu, number))) {
		fw_watch(vcpu);
		o->base = fw_total(vcpu, code);
		vcpu->stats.clock_observed |= is_by_hs_clock(o);
	}
}

void observer_end(struct vcpu *vcpu, uint32_t n)
{
	struct observer *o = &vcpu->observers.observer[n];

	if (o->event.account)
		account_end(vcpu, o->number);
	o->number = 0;
	vcpu->observers.n--;
	vcpu->home->n_observers--;
	if (o->event.depth) {
		vcpu->observers.chains--;
		add_chains(vcpu->home, -1U);
	}
	if (is_fw(o))
		fw_watch(vcpu);
	else
		vpmu_unobserve(&vcpu->pmu, vcpu_is_current(vcpu), n);
	vcpu->observers.chain.due &= ~BIT(n);
	settle(vcpu);
}

/* Reads the observers that count, and ends them: all, or those that depend on instret. */
static void end_for(struct vcpu *vcpu, bool all, const char *why)
{
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		struct observer *o = &vcpu->observers.observer[n];

		if (!o->number || o->ended || !(all || is_by_hs_clock(o)))
			continue;
		observer_read(vcpu, n, csr_read(CSR_TIME));
		if (!o->ended)
			o->ended = why;
	}
	/* The rows of its account stay. */
	stays_stop_recording(vcpu, STAYS_FOR_ACCOUNT);
}

void vcpu_end_observers(struct vcpu *vcpu)
{
	vcpu_take_samples(vcpu);
	/* The memory that the callers are in may soon be another life's. */
	vcpu->observers.chain.unwind.ended = true;
	end_for(vcpu, true, "the vcpu stopped");
	if (vcpu->stats.fw_observed)
		fw_watch(vcpu);
}

/* Not inlined, because vpmu_apply() would then save more registers at each call. */
__attribute__((noinline)) void vcpu_observers_lose_clock(struct vcpu *vcpu)
{
	end_for(vcpu, false, taken);
	vcpu->stats.clock_observed = false;
}

void vcpu_observer_lost(struct vcpu *vcpu, uint32_t n, uint64_t value)
{
	struct observer *o = &vcpu->observers.observer[n];

	o->value = value;
	o->until = csr_read(CSR_TIME);
	o->ended = taken;
}
