/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM that concern its PMU. For the parser of the VM tree only. */
#ifndef CORE_TREE_VM_PMU_CONFIG_H
#define CORE_TREE_VM_PMU_CONFIG_H

#include "core/host/vm_props.h"

/* These properties of a VM node, in the order of VM_PMU_PROP_NAMES. */
enum {
	PMU_ON,
	PMU_COUNTERS,
	PMU_READS,
	PMU_EVENTS,
	PMU_RAW_EVENTS,
	PMU_SNAPSHOT,
	PMU_FREEZE,
	PMU_IDLE_CYCLES,
	PMU_OVERFLOW,
	PMU_OVERFLOW_LIMIT,
	VM_PMU_PROPS
};
#define VM_PMU_PROP_NAMES                                                                          \
	"pmu", "pmu-counters", "pmu-reads", "pmu-events", "pmu-raw-events", "pmu-snapshot",        \
	    "pmu-freeze", "pmu-idle-cycles", "pmu-overflow", "pmu-overflow-limit"

/* Sets the pmu members of the VM, which are zero. props has VM_PMU_PROPS entries. */
bool vm_parse_pmu(const struct vm_node *n, const struct vm_prop *props);

/* Refuses a VM that shares its harts and has a property that needs exclusive harts. All VMs of the
 * tree are parsed. */
bool vm_check_exclusive_harts(const struct vm_node *n);

#endif
