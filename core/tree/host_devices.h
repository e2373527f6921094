/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a device of a VM in the host's device tree, and refuses it if a VM cannot have it. For the
 * parser only. Every function returns false after it has filled in the refusal; n is the device's
 * node in the VM tree, and limits->host_tree is not NULL.
 */
#ifndef CORE_TREE_HOST_DEVICES_H
#define CORE_TREE_HOST_DEVICES_H

#include "core/host/vm_props.h"

/* Sets node, reset, regions and irqs of a device, except irqs[].guest. */
bool host_device_find(const struct vm_node *n, struct vm_device *device);

/* Refuses a device that shares a page of registers or an interrupt with another node of the host
 * that the VM does not have as well. */
bool host_device_check_unshared(const struct vm_node *n, const struct vm_device *device);

#endif
