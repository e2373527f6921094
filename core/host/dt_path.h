/* SPDX-License-Identifier: Apache-2.0 */
/* Finding nodes in a device tree. */
#ifndef CORE_HOST_DT_PATH_H
#define CORE_HOST_DT_PATH_H

#include <stddef.h>

/*
 * Returns the node with this path, or a negative number. The path may begin with an alias instead
 * of a slash, and is `length` bytes long. This is fdt_path_offset_namelen(), which calls itself for
 * an alias; here the depth of the stack is known.
 */
int dt_path(const void *dtb, const char *path, size_t length);

/*
 * Returns the next node after `after` (-1: from the first on) that is compatible, or a negative
 * number. This is fdt_node_offset_by_compatible(), which reads all nodes' properties several times
 * each; here they are read once.
 */
int dt_compatible(const void *dtb, int after, const char *compatible);

/* The same for a memory node, a child of the root. */
int dt_memory(const void *dtb, int after);

#endif
