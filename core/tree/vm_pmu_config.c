/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_pmu_config.h"

#include <libfdt.h>

#include "core/tree/pmu_node.h"
#include "vpmu/hw_event.h"

/* Whether SBI 3.0 defines the event. Whether this machine can count it is not checked. */
static bool is_defined(uint32_t event_idx)
{
	uint32_t code = SBI_PMU_EVENT_CODE(event_idx);

	if (event_idx >> 16 == SBI_PMU_TYPE_FW)
		return code <= SBI_PMU_FW_EVENT_LAST || code >= SBI_PMU_FW_IMPL_FIRST;
	return hw_event_exists(event_idx);
}

static bool parse_events(const struct vm_blob *b, int node, const struct vm_prop *prop,
                         struct vm_config *vm)
{
	const fdt32_t *cells = prop->data;
	uint32_t n = prop->size / sizeof(*cells);

	if (prop->size % sizeof(*cells))
		return vm_refuse_numbers(b, VM_REFUSED_SIZE, node, prop->name,
		                         "is # bytes long, not a list of cells of 4", prop->size,
		                         0);
	if (n > VM_MAX_EVENTS)
		return vm_refuse_numbers(b, VM_REFUSED_TOO_MANY, node, prop->name,
		                         "names # events, more than #", n, VM_MAX_EVENTS);
	vm->pmu_events_given = true;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t event_idx = fdt32_ld(&cells[i]);

		if (!is_defined(event_idx))
			return vm_refuse_numbers(b, VM_REFUSED_EVENT, node, prop->name,
			                         "SBI 3.0 has no event_idx #", event_idx, 0);
		for (uint32_t k = 0; k < i; k++)
			if (vm->pmu_events[k] == event_idx)
				return vm_refuse_numbers(b, VM_REFUSED_DUPLICATE, node, prop->name,
				                         "names # twice", event_idx, 0);
		vm->pmu_events[vm->n_pmu_events++] = event_idx;
	}
	return true;
}

static bool parse_overflow_limit(const struct vm_blob *b, int node, const struct vm_prop *prop,
                                 struct vm_config *vm)
{
	if (!prop->data)
		return true;
	if (!vm_read_u32(b, node, prop, &vm->pmu_overflow_limit))
		return false;
	return vm->pmu_overflow_limit ||
	       vm_refuse(b, VM_REFUSED_VALUE, node, prop->name,
	                 "is 0, with which none would ever come; leave it out for no limit");
}

bool vm_parse_pmu(const struct vm_blob *b, int node, const struct vm_prop *props,
                  const struct vm_limits *limits, const struct selectors *s, struct vm_config *vm)
{
	uint64_t valid = VM_ALL_COUNTERS;

	if (limits->hctrs)
		valid &= limits->hctrs;
	vm->pmu = true;
	vm->pmu_counters = valid;
	if (!vm_read_on(b, node, &props[PMU_ON], &vm->pmu) ||
	    !vm_read_choice(b, node, &props[PMU_READS], "direct", "trap", &vm->pmu_trap_reads) ||
	    !vm_read_on(b, node, &props[PMU_SNAPSHOT], &vm->pmu_snapshot) ||
	    !vm_read_choice(b, node, &props[PMU_FREEZE], "guest", "vcpu", &vm->pmu_freeze_vcpu) ||
	    !vm_read_on(b, node, &props[PMU_IDLE_CYCLES], &vm->pmu_idle_cycles))
		return false;
	/*
	 * By default not both: Linux (up to 7.2 at least) loses counts if it has both. A tree can
	 * ask for both.
	 */
	vm->pmu_overflow = !vm->pmu_snapshot;
	if (!vm_read_on(b, node, &props[PMU_OVERFLOW], &vm->pmu_overflow))
		return false;
	if (props[PMU_COUNTERS].data &&
	    !vm_read_list(b, node, &props[PMU_COUNTERS], valid, VM_REFUSED_COUNTER,
	                  "this machine has no counter #", &vm->pmu_counters))
		return false;
	if (!parse_overflow_limit(b, node, &props[PMU_OVERFLOW_LIMIT], vm))
		return false;
	if (props[PMU_EVENTS].data && !parse_events(b, node, &props[PMU_EVENTS], vm))
		return false;
	if (!pmu_node_parse_allowed(b, node, &props[PMU_RAW_EVENTS], s, vm))
		return false;
	if (!vm->pmu) {
		vm->pmu_counters = 0;
		vm->pmu_freeze_vcpu = false;
		vm->pmu_idle_cycles = false;
	}
	return true;
}

/*
 * Returns the harts on which vcpus other than vcpu v of the VM may run: vcpus of other VMs and, if
 * `own`, other vcpus of this VM.
 */
static uint64_t harts_of_others(const struct vm_tree *tree, uint32_t vm, uint32_t v, bool own)
{
	uint64_t harts = 0;

	for (uint32_t i = 0; i < tree->n_vms; i++)
		for (uint32_t k = 0; k < tree->vms[i].n_vcpus; k++)
			if (i != vm || (own && k != v))
				harts |= tree->vms[i].vcpus[k].harts;
	return harts;
}

static bool check_vcpu(const struct vm_blob *b, int node, const struct vm_harts *all,
                       const struct vm_tree *tree, uint32_t vm, uint32_t v)
{
	const struct vm_config *config = &tree->vms[vm];
	uint64_t harts = config->vcpus[v].harts;
	uint64_t vms = harts & harts_of_others(tree, vm, v, false);
	uint64_t vcpus = harts & harts_of_others(tree, vm, v, true);

	if (config->pmu_freeze_vcpu && vms)
		return vm_refuse_numbers(b, VM_REFUSED_SHARED, node, "pmu-freeze",
		                         "\"vcpu\" is for a VM alone on its harts, and another may "
		                         "run on hart #",
		                         vm_lowest_hart(all, vms), 0);
	if (config->pmu_idle_cycles && vcpus)
		return vm_refuse_numbers(b, VM_REFUSED_SHARED, node, "pmu-idle-cycles",
		                         "\"on\" is for vcpus alone on their harts, and two may "
		                         "run on hart #",
		                         vm_lowest_hart(all, vcpus), 0);
	if (config->no_look && harts & (harts - 1))
		return vm_refuse_numbers(b, VM_REFUSED_SHARED, node, "look",
		                         "\"off\" is for vcpus of one hart, and vcpu# has several",
		                         v, 0);
	if (config->no_look && vcpus)
		return vm_refuse_numbers(b, VM_REFUSED_SHARED, node, "look",
		                         "\"off\" is for vcpus alone on their harts, and two may "
		                         "run on hart #",
		                         vm_lowest_hart(all, vcpus), 0);
	return true;
}

bool vm_check_exclusive_harts(const struct vm_blob *b, int vms, const struct vm_harts *harts,
                              const struct vm_tree *tree)
{
	uint32_t vm = 0;
	int node;

	fdt_for_each_subnode(node, b->blob, vms)
	{
		for (uint32_t v = 0; v < tree->vms[vm].n_vcpus; v++)
			if (!check_vcpu(b, node, harts, tree, vm, v))
				return false;
		vm++;
	}
	return true;
}
