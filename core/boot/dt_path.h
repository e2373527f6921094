/* SPDX-License-Identifier: Apache-2.0 */
/* Paths in a device tree. */
#ifndef CORE_BOOT_DT_PATH_H
#define CORE_BOOT_DT_PATH_H

#include <stddef.h>

/*
 * Returns the node with this path, or a negative number. The path may begin with an alias instead
 * of a slash, and is `length` bytes long. This is fdt_path_offset_namelen(), which calls itself for
 * an alias; here the depth of the stack is known.
 */
int dt_path(const void *dtb, const char *path, size_t length);

#endif
