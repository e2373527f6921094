/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device of a VM in the host's device tree: what it is, and why a VM cannot have it. For the
 * parser only. Every function returns false after it has filled in the refusal; `node` is the
 * device's in the VM tree.
 */
#ifndef CORE_TREE_HOST_DEVICES_H
#define CORE_TREE_HOST_DEVICES_H

#include "core/host/vm_props.h"

/* Sets node, reset, regions and irqs of a device, apart from irqs[].guest. */
bool host_device_find(const struct vm_blob *b, int node, const void *host,
                      const struct vm_config *vm, struct vm_device *device);

/* Refuses a device that shares a page of registers or an interrupt with a node of the host that is
 * not among the VM's devices. */
bool host_device_is_apart(const struct vm_blob *b, int node, const void *host,
                          const struct vm_config *vm, const struct vm_device *device);

#endif
