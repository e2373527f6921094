/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/dt_path.h"

#include <libfdt.h>
#include <string.h>

/* Follows a path of node names, separated by slashes, down from a node. */
static int walk(const void *dtb, int node, const char *path, const char *end)
{
	while (node >= 0 && path < end) {
		const char *slash = memchr(path, '/', (size_t)(end - path));
		const char *next = slash ? slash : end;

		if (next > path)
			node = fdt_subnode_offset_namelen(dtb, node, path, (int)(next - path));
		path = next + 1;
	}
	return node;
}

int dt_path(const void *dtb, const char *path, size_t length)
{
	const char *end = path + length;
	const char *slash = memchr(path, '/', length);
	const char *alias;
	int node, len;

	if (slash == path)
		return walk(dtb, 0, path, end);
	if (!slash)
		slash = end;
	alias = fdt_getprop_namelen(dtb, fdt_subnode_offset(dtb, 0, "aliases"), path,
	                            (int)(slash - path), &len);
	if (!alias || len < 2 || alias[0] != '/' || alias[len - 1])
		return -FDT_ERR_BADPATH;
	node = walk(dtb, 0, alias, alias + len - 1);
	return walk(dtb, node, slash, end);
}

int dt_memory(const void *dtb, int after)
{
	int node = after < 0 ? fdt_first_subnode(dtb, 0) : fdt_next_subnode(dtb, after);

	for (; node >= 0; node = fdt_next_subnode(dtb, node)) {
		int size;
		const char *type = fdt_getprop(dtb, node, "device_type", &size);

		if (type && fdt_stringlist_contains(type, size, "memory"))
			return node;
	}
	return node;
}
