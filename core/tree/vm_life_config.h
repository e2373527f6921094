/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM that concern its end and its next life. For the parser only. */
#ifndef CORE_TREE_VM_LIFE_CONFIG_H
#define CORE_TREE_VM_LIFE_CONFIG_H

#include "core/host/vm_props.h"

/* These properties of a VM node, in the order of VM_LIFE_PROP_NAMES. */
enum {
	LIFE_RESTART,
	LIFE_RESTART_LIMIT,
	LIFE_BAD_ACCESS,
	LIFE_CONTROLS,
	LIFE_HEARTBEAT,
	LIFE_CRASH_EXITS,
	LIFE_BOOT,
	LIFE_SHUTDOWN,
	LIFE_SUSPEND,
	VM_LIFE_PROPS
};
#define VM_LIFE_PROP_NAMES                                                                         \
	"restart", "restart-limit", "bad-access", "controls", "heartbeat-ms", "crash-exits",       \
	    "boot", "shutdown", "suspend"

/* Sets the members of the VM for these properties, except controls. props has VM_LIFE_PROPS
 * entries. */
bool vm_parse_life(const struct vm_node *n, const struct vm_prop *props);

/* Refuses a tree in which boot starts no VM. vms is the node /vms. */
bool vm_check_started(const struct vm_node *vms);

/* Sets controls of a VM; the names of all are known. */
bool vm_parse_controls(const struct vm_node *n);

#endif
