/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

uint32_t vm_vcpus_on(const struct vm_config *vm, uint32_t hart)
{
	uint32_t vcpus = 0;

	for (uint32_t i = 0; i < vm->n_vcpus; i++)
		if (vm->vcpus[i].harts >> hart & 1)
			vcpus |= UINT32_C(1) << i;
	return vcpus;
}

/* Returns the slack before a window and its guard. */
static uint32_t gap(const struct vm_schedule *s, uint32_t i)
{
	const struct vm_hart_window *w = &s->windows[i];
	const struct vm_hart_window *before = &s->windows[i ? i - 1 : s->n_windows - 1];
	uint32_t from = before->start_us + before->length_us;

	return w->start_us + (i ? 0 : s->frame_us) - from - w->guard_us;
}

static bool has_window(const struct vm_schedule *s, uint32_t vm, uint32_t vcpu)
{
	for (uint32_t i = 0; i < s->n_windows; i++)
		if (s->windows[i].vm == vm && s->windows[i].vcpus >> vcpu & 1)
			return true;
	return false;
}

/* When a vcpu has had the hart, since the beginning of the first of two frames. */
struct presence {
	uint32_t since; /* us; when it last lost the hart */
	bool begun;
	uint32_t longest; /* us; the longest time without the hart */
};

static void has_time(struct presence *p, uint32_t from, uint32_t to)
{
	if (from >= to)
		return;
	if (p->begun && from - p->since > p->longest)
		p->longest = from - p->since;
	p->since = to;
	p->begun = true;
}

/* Returns the longest time between windows or pieces of slack of a vcpu, in microseconds. */
static uint32_t longest_absence(const struct vm_schedule *s, uint32_t vm, uint32_t vcpu)
{
	struct presence p = {0};
	uint32_t end = 0;

	for (uint32_t n = 0; n < 2 * s->n_windows; n++) {
		const struct vm_hart_window *w = &s->windows[n % s->n_windows];
		uint32_t start = w->start_us + n / s->n_windows * s->frame_us;

		/* The guard of the first window may begin before the first frame. */
		if (s->slack >> vm & 1 && start >= w->guard_us)
			has_time(&p, end, start - w->guard_us);
		end = start + w->length_us;
		if (w->vm == vm && w->vcpus >> vcpu & 1)
			has_time(&p, start, end);
	}
	return p.longest;
}

/* A guest cannot ring while it is away, so heartbeat-ms must be longer than that. */
static bool check_heartbeat(const struct vm_node *n, const struct vm_schedule *s, uint32_t vm)
{
	const struct vm_config *config = &n->tree->vms[vm];

	/* With several vcpus, another one may ring. */
	if (!config->heartbeat_ms || config->n_vcpus > 1 || !(vm_vcpus_on(config, s->hart) & 1) ||
	    config->heartbeat_ms * UINT64_C(1000) > longest_absence(s, vm, 0))
		return true;
	return vm_refuse(n, VM_REFUSED_VALUE, "",
	                 "heartbeat-ms of %s is not longer than the time between two of its "
	                 "windows%s",
	                 config->name, s->slack >> vm & 1 ? " and pieces of slack" : "");
}

bool vm_check_schedule(const struct vm_node *n, const struct vm_node *first,
                       const struct vm_schedule *s)
{
	const struct vm_hart_window *last = &s->windows[s->n_windows - 1];
	uint32_t since = s->windows[0].start_us + s->frame_us - last->start_us - last->length_us;
	bool long_enough = false;

	if (s->windows[0].guard_us > since)
		return vm_refuse(
		    first, VM_REFUSED_OVERLAP, "guard-us",
		    "%u us are more than the %u us since the last window of the frame before",
		    s->windows[0].guard_us, since);
	for (uint32_t i = 0; i < s->n_windows; i++)
		long_enough |= gap(s, i) >= VM_WINDOW_US_MIN;
	if (s->slack && !long_enough)
		return vm_refuse(n, VM_REFUSED_VALUE, "slack",
		                 "nowhere between the windows and guards are %u us free",
		                 VM_WINDOW_US_MIN);
	for (uint32_t vm = 0; vm < n->tree->n_vms; vm++) {
		const struct vm_config *config = &n->tree->vms[vm];
		uint32_t vcpus = s->slack >> vm & 1 ? 0 : vm_vcpus_on(config, s->hart);

		for (uint32_t v = 0; v < VM_MAX_VCPUS; v++)
			if (vcpus >> v & 1 && !has_window(s, vm, v))
				return vm_refuse(
				    n, VM_REFUSED_MISSING_NODE, "",
				    "vcpu%u of %s has no window, and slack does not name %s", v,
				    config->name, config->name);
		if (!check_heartbeat(n, s, vm))
			return false;
	}
	return true;
}

static bool check_vcpu(const struct vm_node *n, uint32_t v, uint32_t id)
{
	char name[] = "vcpu0";
	uint64_t harts = n->vm->vcpus[v].harts;
	struct vm_node vcpu;

	if (harts & (harts - 1)) {
		name[4] = (char)('0' + v);
		vcpu = vm_child(n, name);
		return vm_refuse(&vcpu, VM_REFUSED_SHARED, "harts",
		                 "are several, but hart %u has a schedule, whose vcpus stay", id);
	}
	if (n->vm->no_look)
		return vm_refuse(
		    n, VM_REFUSED_SHARED, "look",
		    "\"off\" is for a hart without interruptions, but hart %u has a schedule", id);
	if (n->vm->pmu_freeze_vcpu)
		return vm_refuse(n, VM_REFUSED_SHARED, "pmu-freeze",
		                 "\"vcpu\" counts what others' windows and guards take, and hart "
		                 "%u has a schedule",
		                 id);
	if (n->vm->pmu_idle_cycles)
		return vm_refuse(n, VM_REFUSED_SHARED, "pmu-idle-cycles",
		                 "\"on\" is for a hart that is the vcpu's alone, but hart %u has a "
		                 "schedule",
		                 id);
	return true;
}

bool vm_check_scheduled(const struct vm_node *n)
{
	const struct vm_tree *tree = n->tree;

	for (uint32_t v = 0; v < n->vm->n_vcpus; v++)
		for (uint32_t i = 0; i < tree->n_schedules; i++)
			if (n->vm->vcpus[v].harts >> tree->schedules[i].hart & 1 &&
			    !check_vcpu(n, v, tree->schedules[i].id))
				return false;
	return true;
}
