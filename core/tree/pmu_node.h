/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node /pmu of a VM tree, made by tools/pmu-events: the structure of this core's selectors. For
 * the parser of the VM tree only.
 */
#ifndef CORE_TREE_PMU_NODE_H
#define CORE_TREE_PMU_NODE_H

#include "core/host/vm_props.h"
#include "vpmu/selector.h"

/* Fills a zeroed *s. If it returns true, the promises of vpmu/selector.h hold. */
bool pmu_node_parse(const struct vm_node *n, struct selectors *s);

/* Parses a VM's pmu-raw-events. The tree's node /pmu is parsed already. */
bool pmu_node_parse_allowed(const struct vm_node *n, const struct vm_prop *prop);

#endif
