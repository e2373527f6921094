/* SPDX-License-Identifier: Apache-2.0 */
/* Putting a refusal of the VM tree into words. For the parser only; callers see vm_config.h. */
#ifndef CORE_CONFIG_VM_REFUSAL_H
#define CORE_CONFIG_VM_REFUSAL_H

#include "core/config/vm_config.h"

/*
 * Fills everything but the node, which becomes the root. The first '#' of reason becomes a,
 * the second one b, both decimal. property may come from the blob.
 */
void vm_refusal_set(struct vm_refusal *why, enum vm_refusal_code code, const char *property,
                    const char *reason, uint64_t a, uint64_t b);

/* Fills the node's path, or the end of it that fits. */
void vm_refusal_set_node(struct vm_refusal *why, const void *blob, int node);

#endif
