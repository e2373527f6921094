/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

#include <libfdt.h>

#include "vpmu/hw_event.h"

#define TURN_US_MIN 100U
#define TURN_US_MAX 1000000U /* of a share, and of all shares together */

/* Large enough that the cost of stopping a vcpu, and the events until it stops, are small in
 * comparison. */
#define BUDGET_COUNT_MIN 1000U
#define BUDGET_US_MIN    100U
#define BUDGET_US_MAX    1000000U

bool vm_read_us(const struct vm_node *n, const struct vm_prop *prop, uint32_t least, uint32_t most,
                uint32_t *us)
{
	if (!vm_read_u32(n, prop, us))
		return false;
	if (prop->data && *us < least)
		return vm_refuse(n, VM_REFUSED_VALUE, prop->name, "%u is less than %u us", *us,
		                 least);
	return !prop->data || *us <= most ||
	       vm_refuse(n, VM_REFUSED_VALUE, prop->name, "%u is more than %u us", *us, most);
}

bool vm_parse_turn(const struct vm_node *n, const struct vm_prop *turn)
{
	n->tree->turn_us = VM_TURN_US_DEFAULT;
	return vm_read_us(n, turn, TURN_US_MIN, TURN_US_MAX, &n->tree->turn_us);
}

bool vm_parse_turns(const struct vm_node *n, const struct vm_prop *props)
{
	struct vm_config *vm = n->vm;
	uint64_t all;

	vm->share = 1;
	if (!vm_read_choice(n, &props[TURN_LOOK], "on", "off", &vm->no_look) ||
	    !vm_read_u32(n, &props[TURN_SHARE], &vm->share))
		return false;
	if (!vm->share)
		return vm_refuse(n, VM_REFUSED_VALUE, "share", "is 0: it would never run");
	all = (uint64_t)vm->share * n->tree->turn_us;
	if (all > TURN_US_MAX)
		return vm_refuse(n, VM_REFUSED_VALUE, "share",
		                 "makes turns of %lu us, longer than %u us", all, TURN_US_MAX);
	vm->turn_us = (uint32_t)all;
	return true;
}

static bool check_numbers(const struct vm_node *n)
{
	const struct vm_budget *budget = &n->vm->budget;

	if (budget->count < BUDGET_COUNT_MIN)
		return vm_refuse(n, VM_REFUSED_VALUE, "budget",
		                 "of %u events is less than %u events", budget->count,
		                 BUDGET_COUNT_MIN);
	if (budget->period_us < BUDGET_US_MIN)
		return vm_refuse(n, VM_REFUSED_VALUE, "budget", "for %u us is for less than %u us",
		                 budget->period_us, BUDGET_US_MIN);
	if (budget->period_us > BUDGET_US_MAX)
		return vm_refuse(n, VM_REFUSED_VALUE, "budget", "for %u us is for more than %u us",
		                 budget->period_us, BUDGET_US_MAX);
	return true;
}

/* Refuses events that Tally cannot count for a budget on any hart. */
static bool check_event(const struct vm_node *n)
{
	uint32_t event_idx = n->vm->budget.event_idx;

	if (!hw_event_exists(event_idx) || hw_event_is_raw(event_idx))
		return vm_refuse(n, VM_REFUSED_EVENT, "budget",
		                 "event_idx %u is no general or cache event of SBI 3.0", event_idx);
	return !n->tree->has_selectors || selector_of_standard(&n->tree->selectors, event_idx) ||
	       vm_refuse(n, VM_REFUSED_EVENT, "budget", "the node /pmu has no event_idx %u",
	                 event_idx);
}

/* Refuses properties that cannot be combined with a budget. Returns the harts of the VM's vcpus. */
static bool check_vm(const struct vm_node *n, uint64_t *harts)
{
	const struct vm_config *vm = n->vm;

	if (vm->pmu_freeze_vcpu)
		return vm_refuse(n, VM_REFUSED_VALUE, "budget",
		                 "counts the guest alone, and pmu-freeze is \"vcpu\"");
	if (vm->pmu_idle_cycles)
		return vm_refuse(n, VM_REFUSED_VALUE, "budget",
		                 "would be spent asleep: pmu-idle-cycles is \"on\"");
	if (vm->no_look)
		return vm_refuse(n, VM_REFUSED_VALUE, "budget",
		                 "has an exit at the end of each period, and look is \"off\"");
	for (uint32_t v = 0; v < vm->n_vcpus; v++) {
		uint64_t own = vm->vcpus[v].harts;

		if (own & (own - 1))
			return vm_refuse(n, VM_REFUSED_HARTS, "budget",
			                 "is for vcpus of one hart, and vcpu%u has several", v);
		*harts |= own;
	}
	return true;
}

bool vm_parse_budget(const struct vm_node *n, const struct vm_prop *prop)
{
	const fdt32_t *cells = prop->data;
	const char *why;
	uint64_t harts = 0;

	if (!cells)
		return true;
	if (prop->size != 3 * sizeof(*cells))
		return vm_refuse(n, VM_REFUSED_SIZE, "budget",
		                 "is %u bytes long, not 12: event, count, period in us",
		                 prop->size);
	n->vm->budget =
	    (struct vm_budget){fdt32_ld(&cells[0]), fdt32_ld(&cells[1]), fdt32_ld(&cells[2])};
	if (!check_event(n) || !check_numbers(n) || !check_vm(n, &harts))
		return false;
	why = n->limits->no_budget ? n->limits->no_budget(harts, n->vm->budget.event_idx) : NULL;
	return !why || vm_refuse(n, VM_REFUSED_EVENT, "budget", "%s", why);
}
