/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the observers of the vcpus with ideal counters, and checks why they are refused. The
 * rest of the world, which does not know of observers, shows that they change nothing for the
 * guest.
 */
#include "tests/host/world.h"

#include <string.h>

#include "tests/host/fake_harts.h"
#include "vpmu/observe.h"
#include "vpmu/show.h"

uint32_t world_observers(const struct vcpu *vc)
{
	uint32_t on = 0;

	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++)
		on |= vc->observers[n].on ? 1U << n : 0;
	return on;
}

uint64_t world_sampled_hctrs(const struct vcpu *vc)
{
	uint64_t hctrs = 0;

	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		const struct world_observer *o = &vc->observers[n];

		if (o->on && o->samples)
			hctrs |= fake_hart_hctrs(o->event_idx, o->event_data);
	}
	return hctrs;
}

static bool counts_in(const struct world_observer *o, enum fake_mode mode)
{
	return o->on && !(o->inhibit & (mode == FAKE_VU ? HW_INH_VU : HW_INH_VS));
}

void world_observers_step(struct vcpu *vc, enum fake_mode mode, uint32_t work, uint64_t units)
{
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		struct world_observer *o = &vc->observers[n];

		if (counts_in(o, mode))
			o->value += fake_hart_amount(o->event_idx, o->event_data, work, units);
	}
}

void world_observers_retired(struct vcpu *vc, enum fake_mode mode)
{
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		struct world_observer *o = &vc->observers[n];

		o->value += counts_in(o, mode) && model_counts_insns(o->event_idx);
	}
}

static bool same(const struct world_observer *o, uint32_t event_idx, uint64_t event_data,
                 uint32_t inhibit)
{
	return o->event_idx == event_idx && o->event_data == event_data && o->inhibit == inhibit;
}

/* Whether an event may be on, or with `only` must be on, one of these counters. */
static bool is_on(uint32_t event_idx, uint64_t event_data, uint64_t hctrs, bool only)
{
	uint64_t its = fake_hart_hctrs(event_idx, event_data);

	return only ? its == hctrs : (its & hctrs) != 0;
}

/* Finds out who counts another event on the counters of an event, or may do so. */
static void who_is_in_the_way(const struct vcpu *vc, const struct world_observer *wanted, bool only,
                              bool *guest, bool *other)
{
	uint64_t hctrs = fake_hart_hctrs(wanted->event_idx, wanted->event_data);
	const struct vpmu_policy *budget = &vc->model.policy;

	*guest = *other = false;
	/* The budget's counter is in the way as the guest's are. */
	if (budget->budget_hctr &&
	    (only ? hctrs == 1ULL << budget->budget_hctr : hctrs >> budget->budget_hctr & 1) &&
	    !same(wanted, budget->budget_event, 0, 0))
		*guest = true;
	for (uint32_t i = 0; i < VPMU_HW_COUNTERS; i++) {
		const struct model_lctr *c = &vc->model.c[i];

		if (model_is_hw(&vc->model, i) && c->configured &&
		    is_on(c->event_idx, c->event_data, hctrs, only) &&
		    (!same(wanted, c->event_idx, c->event_data, c->inhibit) ||
		     (!only && model_is_shown(&vc->model, i))))
			*guest = true;
	}
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		const struct world_observer *o = &vc->observers[n];

		if (o->on && is_on(o->event_idx, o->event_data, hctrs, only) &&
		    !same(wanted, o->event_idx, o->event_data, o->inhibit))
			*other = true;
	}
}

static bool exists(const struct vcpu *vc, const struct world_observer *wanted)
{
	const struct vpmu_policy *policy = &vc->model.policy;

	/* Events that are not the hart's own: only a hart that has counters for any event can count
	 * them. */
	if (!fake_hart_has(wanted->event_idx, wanted->event_data))
		return false;
	return fake_hart_hctrs(wanted->event_idx, wanted->event_data) != 0 &&
	       !(wanted->event_idx == 2 && policy->wfi_recounts && policy->idle_cycles);
}

static void check_refusal(const struct vcpu *vc, enum vpmu_observe got,
                          const struct world_observer *wanted)
{
	uint64_t hctrs = fake_hart_hctrs(wanted->event_idx, wanted->event_data);
	bool guest, other;

	world_count.observe_no_event += got == VPMU_OBSERVE_NO_EVENT;
	world_count.observe_guests += got == VPMU_OBSERVE_GUEST_USES;
	world_count.observe_others += got == VPMU_OBSERVE_OTHER_USES;
	if (got == VPMU_OBSERVE_NO_EVENT) {
		if (exists(vc, wanted))
			world_differ("an event that exists cannot be observed");
		return;
	}
	if ((got == VPMU_OBSERVE_SILENT) !=
	    (wanted->samples && vc->model.policy.polled_cache && wanted->event_idx >> 16 == 1))
		world_differ("an event is sampled that nobody interrupts for, or not");
	if (got == VPMU_OBSERVE_SILENT) {
		world_count.sampling_silent++;
		return;
	}
	who_is_in_the_way(vc, wanted, false, &guest, &other);
	if (got == VPMU_OBSERVE_GUEST_USES && !guest)
		world_differ("not observed because of the guest, who is not in the way");
	if (got == VPMU_OBSERVE_OTHER_USES && !other)
		world_differ("not observed because of others, who are not in the way");
	/* If the event has a home counter, there is no choice. */
	who_is_in_the_way(vc, wanted, true, &guest, &other);
	if (got == VPMU_OBSERVE_OK && (hctrs & (hctrs - 1)) == 0 && (guest || other))
		world_differ("observed on a counter that counts something else");
}

static struct fake_sampled *sampled(const struct vcpu *vc, uint32_t n)
{
	return &fake_trace.sampled[vc->model.vcpu][n];
}

static uint64_t period_of(const struct vcpu *vc, const struct op *op)
{
	return vc->model.policy.count_hs ? 0 : op->a[4] >> 32;
}

static void observe(struct vcpu *vc, const struct op *op)
{
	uint32_t n = (uint32_t)op->a[1] % VPMU_OBSERVERS;
	struct world_observer *o = &vc->observers[n];
	struct world_observer wanted = {
	    .on = true,
	    .event_idx = (uint32_t)op->a[2],
	    .event_data = op->a[3],
	    .inhibit = (op->a[4] & SBI_PMU_CFG_FLAG_SET_UINH ? HW_INH_VU : 0) |
	               (op->a[4] & SBI_PMU_CFG_FLAG_SET_SINH ? HW_INH_VS : 0),
	};
	uint64_t period = period_of(vc, op);
	enum vpmu_observe got;

	if (o->on)
		return;
	got = vpmu_observe(&vc->vpmu, world_is_resident(vc), n, wanted.event_idx, wanted.event_data,
	                   (uint32_t)op->a[4], period);
	fake_hart_name(&wanted.event_idx, &wanted.event_data);
	wanted.samples = period != 0;
	sampled(vc, n)->events = 0;
	check_refusal(vc, got, &wanted);
	if (got != VPMU_OBSERVE_OK)
		return;
	wanted.hart = vc->hart;
	*o = wanted;
	world_count.observed++;
	world_count.sampling += wanted.samples;
	world_count.observed_elsewhere += !world_is_resident(vc);
}

static void unobserve(struct vcpu *vc, const struct op *op)
{
	uint32_t n = (uint32_t)op->a[1] % VPMU_OBSERVERS;
	struct vpmu_view view;

	world_count.unobserved += vc->observers[n].on;
	vpmu_unobserve(&vc->vpmu, world_is_resident(vc), n);
	vc->observers[n].on = false;
	if (vpmu_describe(&vc->vpmu, VPMU_OBSERVER(n), true, &view))
		world_differ("observer %u has not ended", n);
}

void world_observe(uint32_t which, const struct op *op)
{
	struct vcpu *vc = &world_vcpus[which];
	/* It is done on the vcpu's own hart. */
	uint32_t before = fake_harts_visit(vc->hart);

	if (op->kind == OP_BUDGET)
		world_budget_renew(vc, op);
	else if (op->kind == OP_OBSERVE)
		observe(vc, op);
	else
		unobserve(vc, op);
	fake_harts_return(before);
	if (world_is_resident(vc))
		world_note_lost(vc);
}

static void note_ended(struct vcpu *vc, const struct op *op)
{
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		struct world_observer *o = &vc->observers[n];

		if (!(fake_trace.unobserved >> n & 1))
			continue;
		/* Or beside a counter that starts near its wrap. */
		if (op->kind != OP_CONFIG &&
		    !(vc->model.policy.shows_flags && op->kind == OP_START))
			world_differ("observer %u ended, and not by a configuration", n);
		if (!o->on)
			world_differ("observer %u ended, which was off", n);
		if (fake_trace.unobserved_value[n] != (o->value & vc->vpmu.value_mask) &&
		    !(vc->model.policy.count_hs && !(o->inhibit & HW_INH_VS)))
			world_differ("observer %u ended with %#llx, not %#llx", n,
			             (unsigned long long)fake_trace.unobserved_value[n],
			             (unsigned long long)o->value);
		o->on = false;
		world_count.observers_in_the_way++;
		world_count.samplers_in_the_way += o->samples;
	}
	fake_trace.unobserved = 0;
}

/* Who else there was, on its counter or before, when it was sampled. */
static void note_samples(const struct vcpu *vc, uint32_t n, uint64_t samples)
{
	const struct vpmu *v = &vc->vpmu;
	uint64_t near = v->hctr[v->counter[VPMU_OBSERVER(n)].hctr].users & v->near;
	uint64_t other_samplers = (near & ~(1ULL << VPMU_OBSERVER(n))) >> VPMU_OBSERVER(0);

	world_count.samples += samples;
	world_count.samples_of_two += other_samplers ? samples : 0;
	world_count.samples_beside_periods += near & v->all_lctrs ? samples : 0;
	world_count.samples_after_move += vc->hart != vc->observers[n].hart ? samples : 0;
}

/* Each period that is over is told, once and not too early. `now`: nothing may be left to be
 * told. */
static void check_samples(struct vcpu *vc, uint32_t n, bool now)
{
	struct world_observer *o = &vc->observers[n];
	struct fake_sampled *s = sampled(vc, n);
	uint64_t left = o->value - s->events, value;
	bool shared = false;

	(void)vpmu_observer_read(&vc->vpmu, n, &value, &shared);
	note_samples(vc, n, s->samples);
	world_count.samples_late += s->missed;
	world_count.samples_shared += shared ? s->samples : 0;
	s->samples = s->missed = 0;
	if (!o->samples) {
		if (s->events)
			world_differ("observer %u samples, which only counts", n);
		return;
	}
	/* Both wrap: an event may happen several times in a cycle. */
	if (left > UINT64_MAX / 2)
		world_differ("observer %u: %llu events are sampled, of %llu", n,
		             (unsigned long long)s->events, (unsigned long long)o->value);
	else if (now && left >= vc->vpmu.period[n])
		world_differ("observer %u: no sample since %llu events, of a period of %llu", n,
		             (unsigned long long)left, (unsigned long long)vc->vpmu.period[n]);
}

void world_observers_saved(struct vcpu *vc)
{
	struct vpmu_view view;

	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		if (!vc->observers[n].on ||
		    !vpmu_describe(&vc->vpmu, VPMU_OBSERVER(n), true, &view) ||
		    view.state != VPMU_RUNNING)
			continue;
		world_count.samples_at_switch += sampled(vc, n)->samples;
		check_samples(vc, n, true);
	}
}

void world_observers_taken(struct vcpu *vc)
{
	struct vpmu_view view;

	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		if (vc->observers[n].on &&
		    vpmu_describe(&vc->vpmu, VPMU_OBSERVER(n), true, &view) &&
		    view.state == VPMU_RUNNING)
			check_samples(vc, n, !fake_hart_pending());
	}
}

/* vpmu_observer_read() and vpmu_describe() must agree. */
static void check_short(struct vcpu *vc, uint32_t n, const struct vpmu_view *view)
{
	uint64_t value = 0;
	bool shared = !view->shared;
	bool counts = vpmu_observer_read(&vc->vpmu, n, &value, &shared);

	if (counts == (view->state == VPMU_LOST))
		world_differ("observer %u counts or is lost", n);
	if (shared != view->shared)
		world_differ("observer %u is shared, or not", n);
	/* If it counts HS, each read finds a higher value. */
	if (counts && value != view->value && !vc->model.policy.count_hs)
		world_differ("observer %u: %#llx and %#llx", n, (unsigned long long)value,
		             (unsigned long long)view->value);
}

void world_observers_check(struct vcpu *vc, const struct op *op)
{
	note_ended(vc, op);
	for (uint32_t n = 0; n < VPMU_OBSERVERS; n++) {
		struct world_observer *o = &vc->observers[n];
		struct vpmu_view view;

		if (vpmu_describe(&vc->vpmu, VPMU_OBSERVER(n), true, &view) != o->on) {
			world_differ("observer %u is %s", n, o->on ? "off" : "on");
			return;
		}
		if (!o->on)
			continue;
		check_short(vc, n, &view);
		if (view.state == VPMU_LOST) {
			world_count.observers_lost++;
			if (!op->fail_prepare && !op->fail_set && !op->fail_run && !op->fail_stop)
				world_differ("observer %u is lost without a reason", n);
			vpmu_unobserve(&vc->vpmu, world_is_resident(vc), n);
			o->on = false;
			continue;
		}
		world_count.observer_reads++;
		check_samples(vc, n, !fake_hart_pending());
		world_count.observed_shared += view.shared;
		if (view.value != (o->value & vc->vpmu.value_mask) &&
		    !(vc->model.policy.count_hs && !(o->inhibit & HW_INH_VS)))
			world_differ("observer %u: %#llx, not %#llx", n,
			             (unsigned long long)view.value, (unsigned long long)o->value);
	}
}
