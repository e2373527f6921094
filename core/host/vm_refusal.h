/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the refusal of a VM tree. For the parser only; callers see vm_config.h. */
#ifndef CORE_HOST_VM_REFUSAL_H
#define CORE_HOST_VM_REFUSAL_H

#include "core/host/vm_config.h"

/*
 * Fills in everything but the node, which becomes the root. The first '#' in reason is replaced by
 * a, the second by b, both in decimal. property may come from the blob.
 */
void vm_refusal_set(struct vm_refusal *why, enum vm_refusal_code code, const char *property,
                    const char *reason, uint64_t a, uint64_t b);

/* The same with a text that has been made already. */
void vm_refusal_set_text(struct vm_refusal *why, enum vm_refusal_code code, const char *property,
                         const char *text);

/* Fills in the node's path, or only the node's name if the path is too long. */
void vm_refusal_set_node(struct vm_refusal *why, const void *blob, int node);

#endif
