/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>
#include <string.h>

#include "core/tree/vm_names.h"
#include "core/tree/vm_stay.h"

enum { HART_FRAME, HART_SLACK, HART_PROPS };
static const char *const hart_props[HART_PROPS] = {"major-frame-us", "slack"};

enum { WINDOW_VM, WINDOW_VCPU, WINDOW_START, WINDOW_LENGTH, WINDOW_GUARD, WINDOW_PROPS };
static const char *const window_props[WINDOW_PROPS] = {"vm", "vcpu", "start-us", "length-us",
                                                       "guard-us"};

/* The node's name is "hart" and the hart's id in decimal. */
static bool parse_hart(const struct vm_node *n, struct vm_schedule *s)
{
	const char *name = fdt_get_name(n->blob, n->at, NULL);
	uint64_t id = 0;
	uint32_t digits = 0;

	if (strncmp(name, "hart", 4) == 0)
		for (; digits < 10 && name[4 + digits] >= '0' && name[4 + digits] <= '9'; digits++)
			id = id * 10 + (uint64_t)(name[4 + digits] - '0');
	if (!digits || name[4 + digits] || (digits > 1 && name[4] == '0'))
		return vm_refuse(n, VM_REFUSED_NAME, "",
		                 "schedules are hart0, hart1 and so on, by the hart's id");
	s->hart = vm_hart(&n->limits->harts, id);
	s->id = (uint32_t)id;
	if (s->hart == VM_MAX_HARTS)
		return vm_refuse_hart(n, "", id);
	for (uint32_t i = 0; i < n->tree->n_schedules; i++)
		if (n->tree->schedules[i].hart == s->hart)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, "", "is there twice");
	return true;
}

/* Parses the vcpus that have the window: all of the VM's on this hart, or one. */
static bool parse_window_vm(const struct vm_node *n, const struct vm_prop *props,
                            const struct vm_schedule *s, struct vm_hart_window *w)
{
	const char *name;
	uint32_t which = 0;

	if (!vm_require(n, &props[WINDOW_VM]) ||
	    !vm_read_string(n, &props[WINDOW_VM], VM_NAME_MAX, &name) ||
	    !vm_read_u32(n, &props[WINDOW_VCPU], &which) || !vm_find_named(n, "vm", name, &w->vm))
		return false;
	w->vcpus = vm_vcpus_on(&n->tree->vms[w->vm], s->hart);
	if (!w->vcpus)
		return vm_refuse(n, VM_REFUSED_NAME, "vm", "no vcpu of %s is on hart %u", name,
		                 s->id);
	if (!props[WINDOW_VCPU].data)
		return true;
	if (which >= VM_MAX_VCPUS || !(w->vcpus >> which & 1))
		return vm_refuse(n, VM_REFUSED_NAME, "vcpu", "vcpu%u of %s is not on hart %u",
		                 which, name, s->id);
	w->vcpus = UINT32_C(1) << which;
	return true;
}

static bool parse_window(const struct vm_node *n, struct vm_schedule *s)
{
	struct vm_hart_window *w = &s->windows[s->n_windows];
	const struct vm_hart_window *before = s->n_windows ? w - 1 : NULL;
	struct vm_prop props[WINDOW_PROPS];
	uint32_t free_from = before ? before->start_us + before->length_us : 0;

	if (!vm_has_room(n, "window", s->n_windows, VM_MAX_HART_WINDOWS) ||
	    !vm_read_props(n, window_props, WINDOW_PROPS, props) || !vm_refuse_children(n) ||
	    !parse_window_vm(n, props, s, w) || !vm_require(n, &props[WINDOW_START]) ||
	    !vm_read_u32(n, &props[WINDOW_START], &w->start_us) ||
	    !vm_require(n, &props[WINDOW_LENGTH]) ||
	    !vm_read_u32(n, &props[WINDOW_LENGTH], &w->length_us) ||
	    !vm_read_u32(n, &props[WINDOW_GUARD], &w->guard_us))
		return false;
	if (w->start_us < free_from)
		return vm_refuse(n, VM_REFUSED_OVERLAP, "start-us",
		                 "%u us is before the end of the window before it, %u us",
		                 w->start_us, free_from);
	if (w->length_us < VM_WINDOW_US_MIN)
		return vm_refuse(n, VM_REFUSED_VALUE, "length-us", "%u is less than %u us",
		                 w->length_us, VM_WINDOW_US_MIN);
	if (w->start_us > s->frame_us || w->length_us > s->frame_us - w->start_us)
		return vm_refuse(n, VM_REFUSED_VALUE, "length-us",
		                 "the window ends at %lu us, behind the frame of %u us",
		                 (uint64_t)w->start_us + w->length_us, s->frame_us);
	/* The guard of the first window may lie at the end of the frame before. */
	if (before && w->guard_us > w->start_us - free_from)
		return vm_refuse(n, VM_REFUSED_OVERLAP, "guard-us",
		                 "%u us are more than the %u us since the window before it",
		                 w->guard_us, w->start_us - free_from);
	s->n_windows++;
	return true;
}

static bool parse_slack(const struct vm_node *n, const struct vm_prop *prop, struct vm_schedule *s)
{
	const struct vm_tree *tree = n->tree;

	if (!vm_read_names(n, prop, &s->slack))
		return false;
	for (uint32_t vm = 0; vm < tree->n_vms; vm++)
		if (s->slack >> vm & 1 && !vm_vcpus_on(&tree->vms[vm], s->hart))
			return vm_refuse(n, VM_REFUSED_NAME, prop->name,
			                 "no vcpu of %s is on hart %u", tree->vms[vm].name, s->id);
	return true;
}

static bool parse_schedule(const struct vm_node *n)
{
	struct vm_schedule *s = &n->tree->schedules[n->tree->n_schedules];
	struct vm_prop props[HART_PROPS];
	struct vm_node child = vm_node_at(n, -1);
	struct vm_node first = vm_node_at(n, fdt_first_subnode(n->blob, n->at));

	if (!vm_has_room(n, "schedule", n->tree->n_schedules, VM_MAX_SCHEDULES) ||
	    !parse_hart(n, s) || !vm_read_props(n, hart_props, HART_PROPS, props) ||
	    !vm_require(n, &props[HART_FRAME]) ||
	    !vm_read_us(n, &props[HART_FRAME], VM_FRAME_US_MIN, VM_FRAME_US_MAX, &s->frame_us) ||
	    !parse_slack(n, &props[HART_SLACK], s))
		return false;
	fdt_for_each_subnode(child.at, n->blob, n->at)
	{
		if (!parse_window(&child, s))
			return false;
	}
	if (!s->n_windows)
		return vm_refuse(n, VM_REFUSED_MISSING_NODE, "", "has no window");
	vm_stay_bounds(n->tree, s, n->limits->ssccfg, n->limits->hctrs);
	n->tree->n_schedules++;
	return vm_check_schedule(n, &first, s);
}

bool vm_parse_schedules(const struct vm_node *n, const struct vm_node *vms)
{
	return vm_parse_children(n, parse_schedule) && vm_each(vms, vm_check_scheduled);
}
