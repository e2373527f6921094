/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_schedule.h"

#include <libfdt.h>
#include <string.h>

#include "core/tree/vm_names.h"
#include "core/tree/vm_stay.h"
#include "core/tree/vm_turns.h"

enum { HART_FRAME, HART_SLACK, HART_PROPS };
static const char *const hart_props[HART_PROPS] = {"major-frame-us", "slack"};

enum { WINDOW_VM, WINDOW_VCPU, WINDOW_START, WINDOW_LENGTH, WINDOW_GUARD, WINDOW_PROPS };
static const char *const window_props[WINDOW_PROPS] = {"vm", "vcpu", "start-us", "length-us",
                                                       "guard-us"};

/* The node's name is "hart" and the hart's id in decimal. */
static bool parse_hart(const struct vm_blob *b, int node, const struct vm_limits *limits,
                       const struct vm_tree *tree, struct vm_schedule *s)
{
	const char *name = fdt_get_name(b->blob, node, NULL);
	uint64_t n = 0;
	uint32_t digits = 0;

	if (strncmp(name, "hart", 4) == 0)
		for (; digits < 10 && name[4 + digits] >= '0' && name[4 + digits] <= '9'; digits++)
			n = n * 10 + (uint64_t)(name[4 + digits] - '0');
	if (!digits || name[4 + digits] || (digits > 1 && name[4] == '0'))
		return vm_refuse(b, VM_REFUSED_NAME, node, "",
		                 "schedules are hart0, hart1 and so on, by the hart's id");
	s->hart = vm_hart(&limits->harts, n);
	s->id = (uint32_t)n;
	if (s->hart == VM_MAX_HARTS)
		return vm_refuse_hart(b, node, "", limits, n);
	for (uint32_t i = 0; i < tree->n_schedules; i++)
		if (tree->schedules[i].hart == s->hart)
			return vm_refuse(b, VM_REFUSED_DUPLICATE, node, "", "is there twice");
	return true;
}

/* Parses the vcpus that have the window: all of the VM's on this hart, or one. */
static bool parse_window_vm(const struct vm_blob *b, int node, const struct vm_prop *props,
                            const struct vm_tree *tree, const struct vm_schedule *s,
                            struct vm_hart_window *w)
{
	const struct vm_prop *vcpu = &props[WINDOW_VCPU];
	const char *name;
	uint32_t which = 0;

	if (!vm_require(b, node, &props[WINDOW_VM]) ||
	    !vm_read_string(b, node, &props[WINDOW_VM], VM_NAME_MAX, &name) ||
	    (vcpu->data && !vm_read_u32(b, node, vcpu, &which)))
		return false;
	if (!vm_find_named(b, node, "vm", tree, name, &w->vm))
		return false;
	w->vcpus = vm_vcpus_on(&tree->vms[w->vm], s->hart);
	if (!w->vcpus)
		return vm_refuse_text(b, VM_REFUSED_NAME, node, "vm",
		                      "no vcpu of %s is on hart %lu", name, (unsigned long)s->id);
	if (!vcpu->data)
		return true;
	if (which >= VM_MAX_VCPUS || !(w->vcpus >> which & 1))
		return vm_refuse_text(b, VM_REFUSED_NAME, node, "vcpu",
		                      "vcpu%lu of %s is not on hart %lu", (unsigned long)which,
		                      name, (unsigned long)s->id);
	w->vcpus = UINT32_C(1) << which;
	return true;
}

static bool parse_window(const struct vm_blob *b, int node, const struct vm_tree *tree,
                         struct vm_schedule *s)
{
	struct vm_hart_window *w = &s->windows[s->n_windows];
	const struct vm_hart_window *before = s->n_windows ? w - 1 : NULL;
	struct vm_prop props[WINDOW_PROPS];
	uint32_t free_from = before ? before->start_us + before->length_us : 0;

	if (!vm_read_props(b, node, window_props, WINDOW_PROPS, props) ||
	    !vm_refuse_children(b, node) || !parse_window_vm(b, node, props, tree, s, w) ||
	    !vm_require(b, node, &props[WINDOW_START]) ||
	    !vm_read_u32(b, node, &props[WINDOW_START], &w->start_us) ||
	    !vm_require(b, node, &props[WINDOW_LENGTH]) ||
	    !vm_read_u32(b, node, &props[WINDOW_LENGTH], &w->length_us) ||
	    (props[WINDOW_GUARD].data && !vm_read_u32(b, node, &props[WINDOW_GUARD], &w->guard_us)))
		return false;
	if (w->start_us < free_from)
		return vm_refuse_numbers(b, VM_REFUSED_OVERLAP, node, "start-us",
		                         "# us is before the end of the window before it, # us",
		                         w->start_us, free_from);
	if (w->length_us < VM_WINDOW_US_MIN)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, "length-us",
		                         "# is less than # us", w->length_us, VM_WINDOW_US_MIN);
	if (w->start_us > s->frame_us || w->length_us > s->frame_us - w->start_us)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, "length-us",
		                         "the window ends at # us, behind the frame of # us",
		                         (uint64_t)w->start_us + w->length_us, s->frame_us);
	/* The guard of the first window may lie at the end of the frame before. */
	if (before && w->guard_us > w->start_us - free_from)
		return vm_refuse_numbers(b, VM_REFUSED_OVERLAP, node, "guard-us",
		                         "# us are more than the # us since the window before it",
		                         w->guard_us, w->start_us - free_from);
	s->n_windows++;
	return true;
}

static bool parse_slack(const struct vm_blob *b, int node, const struct vm_prop *prop,
                        const struct vm_tree *tree, struct vm_schedule *s)
{
	if (!prop->data)
		return true;
	if (!vm_read_names(b, node, prop, tree, &s->slack))
		return false;
	for (uint32_t vm = 0; vm < tree->n_vms; vm++)
		if (s->slack >> vm & 1 && !vm_vcpus_on(&tree->vms[vm], s->hart))
			return vm_refuse_text(b, VM_REFUSED_NAME, node, prop->name,
			                      "no vcpu of %s is on hart %lu", tree->vms[vm].name,
			                      (unsigned long)s->id);
	return true;
}

static bool parse_schedule(const struct vm_blob *b, int node, const struct vm_limits *limits,
                           const struct vm_tree *tree, struct vm_schedule *s)
{
	struct vm_prop props[HART_PROPS];
	int child, first = -1;

	if (!parse_hart(b, node, limits, tree, s) ||
	    !vm_read_props(b, node, hart_props, HART_PROPS, props) ||
	    !vm_require(b, node, &props[HART_FRAME]) ||
	    !vm_read_us(b, node, &props[HART_FRAME], VM_FRAME_US_MIN, VM_FRAME_US_MAX,
	                &s->frame_us) ||
	    !parse_slack(b, node, &props[HART_SLACK], tree, s))
		return false;
	fdt_for_each_subnode(child, b->blob, node)
	{
		if (s->n_windows == VM_MAX_HART_WINDOWS)
			return vm_refuse_numbers(b, VM_REFUSED_TOO_MANY, child, "",
			                         "is one window more than #", VM_MAX_HART_WINDOWS,
			                         0);
		if (!parse_window(b, child, tree, s))
			return false;
		first = first < 0 ? child : first;
	}
	if (!s->n_windows)
		return vm_refuse(b, VM_REFUSED_MISSING_NODE, node, "", "has no window");
	vm_stay_bounds(tree, s, limits->ssccfg, limits->hctrs);
	return vm_check_schedule(b, node, first, tree, s);
}

bool vm_parse_schedules(const struct vm_blob *b, int node, int vms, const struct vm_limits *limits,
                        struct vm_tree *tree)
{
	int child;

	if (!vm_read_props(b, node, NULL, 0, NULL))
		return false;
	fdt_for_each_subnode(child, b->blob, node)
	{
		if (tree->n_schedules == VM_MAX_SCHEDULES)
			return vm_refuse_numbers(b, VM_REFUSED_TOO_MANY, child, "",
			                         "is one schedule more than #", VM_MAX_SCHEDULES,
			                         0);
		if (!parse_schedule(b, child, limits, tree, &tree->schedules[tree->n_schedules]))
			return false;
		tree->n_schedules++;
	}
	return vm_check_scheduled(b, vms, tree);
}
