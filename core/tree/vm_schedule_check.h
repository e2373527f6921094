/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of schedules together with the VMs. For the parser only. */
#ifndef CORE_TREE_VM_SCHEDULE_CHECK_H
#define CORE_TREE_VM_SCHEDULE_CHECK_H

#include "core/host/vm_config.h"
#include "core/host/vm_props.h"

/* Checks one schedule whose windows are parsed; `first` is the node of the first one. Returns false
 * after the refusal is filled in. */
bool vm_check_schedule(const struct vm_blob *b, int node, int first, const struct vm_tree *tree,
                       const struct vm_schedule *s);

/* Checks the VMs that are on harts with schedules. Returns false after the refusal is filled in. */
bool vm_check_scheduled(const struct vm_blob *b, int vms, const struct vm_tree *tree);

#endif
