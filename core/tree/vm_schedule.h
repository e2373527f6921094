/* SPDX-License-Identifier: Apache-2.0 */
/* The node /schedules: windows of harts that repeat in a frame. For the parser only. */
#ifndef CORE_TREE_VM_SCHEDULE_H
#define CORE_TREE_VM_SCHEDULE_H

#include "core/host/vm_config.h"
#include "core/host/vm_props.h"

/* Parses the node, after all VMs are parsed, and checks that each vcpu of these harts has time.
 * Returns false after the refusal is filled in. */
bool vm_parse_schedules(const struct vm_blob *b, int node, int vms, const struct vm_limits *limits,
                        struct vm_tree *tree);

#endif
