/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_turns.h"

#include <libfdt.h>

#include "vpmu/hw_event.h"

#define TURN_US_MIN 100U
#define TURN_US_MAX 1000000U /* of a share, and of all shares together */

/* Large enough that the cost of stopping a vcpu, and the events until it stops, are small in
 * comparison. */
#define BUDGET_COUNT_MIN 1000U
#define BUDGET_US_MIN    100U
#define BUDGET_US_MAX    1000000U

bool vm_read_us(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t least,
                uint32_t most, uint32_t *us)
{
	if (!prop->data)
		return true;
	if (!vm_read_u32(b, node, prop, us))
		return false;
	if (*us < least)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, prop->name,
		                         "# is less than # us", *us, least);
	return *us <= most || vm_refuse_numbers(b, VM_REFUSED_VALUE, node, prop->name,
	                                        "# is more than # us", *us, most);
}

bool vm_parse_turn(const struct vm_blob *b, int node, const struct vm_prop *turn,
                   struct vm_tree *tree)
{
	tree->turn_us = VM_TURN_US_DEFAULT;
	return vm_read_us(b, node, turn, TURN_US_MIN, TURN_US_MAX, &tree->turn_us);
}

bool vm_parse_turns(const struct vm_blob *b, int node, const struct vm_prop *props,
                    uint32_t turn_us, struct vm_config *vm)
{
	const struct vm_prop *share = &props[TURN_SHARE];
	uint64_t all;

	vm->share = 1;
	if (!vm_read_choice(b, node, &props[TURN_LOOK], "on", "off", &vm->no_look) ||
	    (share->data && !vm_read_u32(b, node, share, &vm->share)))
		return false;
	if (!vm->share)
		return vm_refuse(b, VM_REFUSED_VALUE, node, share->name,
		                 "is 0: it would never run");
	all = (uint64_t)vm->share * turn_us;
	if (all > TURN_US_MAX)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, share->name,
		                         "makes turns of # us, longer than # us", all, TURN_US_MAX);
	vm->turn_us = (uint32_t)all;
	return true;
}

static bool check_numbers(const struct vm_blob *b, int node, const char *name,
                          const struct vm_budget *budget)
{
	if (budget->count < BUDGET_COUNT_MIN)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, name,
		                         "of # events is less than # events", budget->count,
		                         BUDGET_COUNT_MIN);
	if (budget->period_us < BUDGET_US_MIN)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, name,
		                         "for # us is for less than # us", budget->period_us,
		                         BUDGET_US_MIN);
	if (budget->period_us > BUDGET_US_MAX)
		return vm_refuse_numbers(b, VM_REFUSED_VALUE, node, name,
		                         "for # us is for more than # us", budget->period_us,
		                         BUDGET_US_MAX);
	return true;
}

/* Refuses events that Tally cannot count for a budget on any hart. */
static bool check_event(const struct vm_blob *b, int node, const char *name,
                        const struct vm_tree *tree, uint32_t event_idx)
{
	if (!hw_event_exists(event_idx) || hw_event_is_raw(event_idx))
		return vm_refuse_numbers(b, VM_REFUSED_EVENT, node, name,
		                         "event_idx # is no general or cache event of SBI 3.0",
		                         event_idx, 0);
	if (tree->has_selectors && !selector_of_standard(&tree->selectors, event_idx))
		return vm_refuse_numbers(b, VM_REFUSED_EVENT, node, name,
		                         "the node /pmu has no event_idx #", event_idx, 0);
	return true;
}

/* Refuses properties that cannot be combined with a budget. Returns the harts of the VM's vcpus. */
static bool check_vm(const struct vm_blob *b, int node, const char *name,
                     const struct vm_config *vm, uint64_t *harts)
{
	if (vm->pmu_freeze_vcpu)
		return vm_refuse(b, VM_REFUSED_VALUE, node, name,
		                 "counts the guest alone, and pmu-freeze is \"vcpu\"");
	if (vm->pmu_idle_cycles)
		return vm_refuse(b, VM_REFUSED_VALUE, node, name,
		                 "would be spent asleep: pmu-idle-cycles is \"on\"");
	if (vm->no_look)
		return vm_refuse(b, VM_REFUSED_VALUE, node, name,
		                 "has an exit at the end of each period, and look is \"off\"");
	for (uint32_t v = 0; v < vm->n_vcpus; v++) {
		uint64_t own = vm->vcpus[v].harts;

		if (own & (own - 1))
			return vm_refuse_numbers(b, VM_REFUSED_HARTS, node, name,
			                         "is for vcpus of one hart, and vcpu# has several",
			                         v, 0);
		*harts |= own;
	}
	return true;
}

bool vm_parse_budget(const struct vm_blob *b, int node, const struct vm_prop *prop,
                     const struct vm_limits *limits, const struct vm_tree *tree,
                     struct vm_config *vm)
{
	const fdt32_t *cells = prop->data;
	const char *why;
	uint64_t harts = 0;

	if (!cells)
		return true;
	if (prop->size != 3 * sizeof(*cells))
		return vm_refuse_numbers(b, VM_REFUSED_SIZE, node, prop->name,
		                         "is # bytes long, not #: event, count, period in us",
		                         prop->size, 3 * sizeof(*cells));
	vm->budget = (struct vm_budget){
	    .event_idx = fdt32_ld(&cells[0]),
	    .count = fdt32_ld(&cells[1]),
	    .period_us = fdt32_ld(&cells[2]),
	};
	if (!check_event(b, node, prop->name, tree, vm->budget.event_idx) ||
	    !check_numbers(b, node, prop->name, &vm->budget) ||
	    !check_vm(b, node, prop->name, vm, &harts))
		return false;
	why = limits->no_budget ? limits->no_budget(harts, vm->budget.event_idx) : NULL;
	return !why || vm_refuse(b, VM_REFUSED_EVENT, node, prop->name, why);
}
