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

/*
 * Sets the pmu members of *vm, which are zero. props has VM_PMU_PROPS entries. s is the node /pmu
 * of the tree, or NULL without it.
 */
bool vm_parse_pmu(const struct vm_blob *b, int node, const struct vm_prop *props,
                  const struct vm_limits *limits, const struct selectors *s, struct vm_config *vm);

/*
 * Refuses a VM that shares its harts and has a property that needs exclusive harts. The children of
 * node `vms` are the VMs of the tree, and all of them are parsed.
 */
bool vm_check_exclusive_harts(const struct vm_blob *b, int vms, const struct vm_harts *harts,
                              const struct vm_tree *tree);

#endif
