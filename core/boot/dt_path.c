/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/dt_path.h"

#include <libfdt.h>
#include <string.h>

/* Goes down from a node by the names between slashes. */
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
