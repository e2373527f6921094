/* SPDX-License-Identifier: Apache-2.0 */
/* The node /schedules: windows of harts that repeat in a frame. For the parser only. */
#ifndef CORE_TREE_VM_SCHEDULE_H
#define CORE_TREE_VM_SCHEDULE_H

#include "core/host/vm_props.h"

/* Parses the node, after all VMs are parsed, and checks that each vcpu of these harts has time.
 * `vms` is the node /vms. Returns false after the refusal is filled in. */
bool vm_parse_schedules(const struct vm_node *n, const struct vm_node *vms);

/* Part of vm_parse_schedules(). Checks one schedule whose windows are parsed; `first` is the node
 * of the first one. Returns false after the refusal is filled in. */
bool vm_check_schedule(const struct vm_node *n, const struct vm_node *first,
                       const struct vm_schedule *s);

/* Part of vm_parse_schedules(). Checks a VM that is on harts with schedules. Returns false after
 * the refusal is filled in. */
bool vm_check_scheduled(const struct vm_node *n);

#endif
