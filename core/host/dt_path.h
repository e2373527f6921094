/* SPDX-License-Identifier: Apache-2.0 */
/* Finding nodes in a device tree. */
#ifndef CORE_HOST_DT_PATH_H
#define CORE_HOST_DT_PATH_H

#include <stddef.h>

/*
 * Returns the node with this path, or a negative number. The path is `length` bytes long, and may
 * begin with an alias instead of a slash. Replaces fdt_path_offset_namelen(), which calls itself
 * for an alias, so that the depth of its stack is not known.
 */
int dt_path(const void *dtb, const char *path, size_t length);

/* Returns the first memory node (device_type) behind the node `after` (-1: of the whole tree), or a
 * negative number. Memory nodes are children of the root. */
int dt_memory(const void *dtb, int after);

#endif
