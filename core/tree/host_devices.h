/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a device of a VM in the host's device tree, and refuses it if a VM cannot have it. For the
 * parser only. Every function returns false after it has filled in the refusal; `node` is the
 * device's in the VM tree.
 */
#ifndef CORE_TREE_HOST_DEVICES_H
#define CORE_TREE_HOST_DEVICES_H

#include "core/host/vm_props.h"

/* Sets node, reset, regions and irqs of a device, except irqs[].guest. Here and below
 * limits->host_tree is not NULL. */
bool host_device_find(const struct vm_blob *b, int node, const struct vm_limits *limits,
                      const struct vm_config *vm, struct vm_device *device);

/* Refuses a device that shares a page of registers or an interrupt with another node of the host
 * that the VM does not have as well. */
bool host_device_check_unshared(const struct vm_blob *b, int node, const struct vm_limits *limits,
                                const struct vm_config *vm, const struct vm_device *device);

#endif
