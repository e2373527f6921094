/* SPDX-License-Identifier: Apache-2.0 */
/* A VM as JSON. */
#ifndef TOOLS_VM_CHECK_VM_JSON_H
#define TOOLS_VM_CHECK_VM_JSON_H

#include "core/host/vm_config.h"

/* Prints a string of ASCII, or of bytes that become escapes. */
void print_json_string(const char *s);

void print_json_vm(const struct vm_tree *tree, const struct vm_config *vm,
                   const struct vm_limits *limits);

#endif
