/* SPDX-License-Identifier: Apache-2.0 */
#include "core/tree/vm_groups.h"

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

static bool parse_events(const struct vm_node *n, const struct vm_prop *prop)
{
	const fdt32_t *cells = prop->data;
	struct vm_config *vm = n->vm;
	uint32_t count;

	if (!cells)
		return true;
	if (!vm_count_cells(n, prop, &count))
		return false;
	if (count > VM_MAX_EVENTS)
		return vm_refuse(n, VM_REFUSED_TOO_MANY, prop->name,
		                 "names %u events, more than %u", count, VM_MAX_EVENTS);
	vm->pmu_events_given = true;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t event_idx = fdt32_ld(&cells[i]);

		if (!is_defined(event_idx))
			return vm_refuse(n, VM_REFUSED_EVENT, prop->name,
			                 "SBI 3.0 has no event_idx %u", event_idx);
		for (uint32_t k = 0; k < i; k++)
			if (vm->pmu_events[k] == event_idx)
				return vm_refuse(n, VM_REFUSED_DUPLICATE, prop->name,
				                 "names %u twice", event_idx);
		vm->pmu_events[vm->n_pmu_events++] = event_idx;
	}
	return true;
}

static bool parse_overflow_limit(const struct vm_node *n, const struct vm_prop *prop)
{
	if (!vm_read_u32(n, prop, &n->vm->pmu_overflow_limit))
		return false;
	return !prop->data || n->vm->pmu_overflow_limit ||
	       vm_refuse(n, VM_REFUSED_VALUE, prop->name,
	                 "is 0, with which none would ever come; leave it out for no limit");
}

bool vm_parse_pmu(const struct vm_node *n, const struct vm_prop *props)
{
	struct vm_config *vm = n->vm;
	uint64_t valid = VM_ALL_COUNTERS;

	if (n->limits->hctrs)
		valid &= n->limits->hctrs;
	vm->pmu = true;
	vm->pmu_counters = valid;
	if (!vm_read_on(n, &props[PMU_ON], &vm->pmu) ||
	    !vm_read_choice(n, &props[PMU_READS], "direct", "trap", &vm->pmu_trap_reads) ||
	    !vm_read_on(n, &props[PMU_SNAPSHOT], &vm->pmu_snapshot) ||
	    !vm_read_choice(n, &props[PMU_FREEZE], "guest", "vcpu", &vm->pmu_freeze_vcpu) ||
	    !vm_read_on(n, &props[PMU_IDLE_CYCLES], &vm->pmu_idle_cycles))
		return false;
	/*
	 * By default not both: Linux (up to 7.2 at least) loses counts if it has both. A tree can
	 * ask for both.
	 */
	vm->pmu_overflow = !vm->pmu_snapshot;
	if (!vm_read_on(n, &props[PMU_OVERFLOW], &vm->pmu_overflow) ||
	    !vm_read_mask(n, &props[PMU_COUNTERS], &valid, &vm->pmu_counters) ||
	    !parse_overflow_limit(n, &props[PMU_OVERFLOW_LIMIT]) ||
	    !parse_events(n, &props[PMU_EVENTS]) ||
	    !pmu_node_parse_allowed(n, &props[PMU_RAW_EVENTS]))
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
static uint64_t harts_of_others(const struct vm_node *n, uint32_t v, bool own)
{
	const struct vm_config *vms = n->tree->vms;
	uint64_t harts = 0;

	for (uint32_t i = 0; i < n->tree->n_vms; i++)
		for (uint32_t k = 0; k < vms[i].n_vcpus; k++)
			if (&vms[i] != n->vm || (own && k != v))
				harts |= vms[i].vcpus[k].harts;
	return harts;
}

static bool check_vcpu(const struct vm_node *n, uint32_t v)
{
	uint64_t harts = n->vm->vcpus[v].harts;
	uint64_t vms = harts & harts_of_others(n, v, false);
	uint64_t vcpus = harts & harts_of_others(n, v, true);

	if (n->vm->pmu_freeze_vcpu && vms)
		return vm_refuse(n, VM_REFUSED_SHARED, "pmu-freeze",
		                 "\"vcpu\" is for a VM alone on its harts, and another may run on "
		                 "hart %u",
		                 vm_lowest_hart(&n->limits->harts, vms));
	if (n->vm->pmu_idle_cycles && vcpus)
		return vm_refuse(n, VM_REFUSED_SHARED, "pmu-idle-cycles",
		                 "\"on\" is for vcpus alone on their harts, and two may run on "
		                 "hart %u",
		                 vm_lowest_hart(&n->limits->harts, vcpus));
	if (n->vm->no_look && harts & (harts - 1))
		return vm_refuse(n, VM_REFUSED_SHARED, "look",
		                 "\"off\" is for vcpus of one hart, and vcpu%u has several", v);
	if (n->vm->no_look && vcpus)
		return vm_refuse(n, VM_REFUSED_SHARED, "look",
		                 "\"off\" is for vcpus alone on their harts, and two may run on "
		                 "hart %u",
		                 vm_lowest_hart(&n->limits->harts, vcpus));
	return true;
}

bool vm_check_exclusive_harts(const struct vm_node *n)
{
	for (uint32_t v = 0; v < n->vm->n_vcpus; v++)
		if (!check_vcpu(n, v))
			return false;
	return true;
}
