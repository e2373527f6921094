/* SPDX-License-Identifier: Apache-2.0 */
/* The properties of a VM that concern its end and its next life. For the parser only. */
#ifndef CORE_CONFIG_VM_LIFE_CONFIG_H
#define CORE_CONFIG_VM_LIFE_CONFIG_H

#include "core/config/vm_props.h"

/* What a VM node may have of them, in this order. */
enum { LIFE_RESTART, LIFE_RESTART_LIMIT, LIFE_BAD_ACCESS, VM_LIFE_PROPS };
#define VM_LIFE_PROP_NAMES "restart", "restart-limit", "bad-access"

/* Fills restart, restart_limit and bad_access_stops of *vm. props: VM_LIFE_PROPS of them. */
bool vm_parse_life(const struct vm_blob *b, int node, const struct vm_prop *props,
                   struct vm_config *vm);

#endif
