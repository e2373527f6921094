/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM that concern its PMU. For the parser of the VM tree only. */
#ifndef CORE_TREE_VM_PMU_CONFIG_H
#define CORE_TREE_VM_PMU_CONFIG_H

#include "core/host/vm_props.h"

/* Sets the pmu members of the VM, which are zero. */
bool vm_parse_pmu(const struct vm_node *n);

/* Refuses a VM that shares its harts and has a property that needs exclusive harts. All VMs of the
 * tree are parsed. */
bool vm_check_exclusive_harts(const struct vm_node *n);

#endif
