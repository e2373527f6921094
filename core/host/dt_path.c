/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/dt_path.h"

#include <libfdt.h>
#include <stdbool.h>
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

/* Whether the property has this name. `size` is the length of the name in bytes, with its NUL. */
static bool is_named(const void *dtb, const struct fdt_property *property, const char *name,
                     uint32_t size)
{
	uint32_t offset = fdt32_ld(&property->nameoff), names = fdt_size_dt_strings(dtb);

	return size <= names && offset <= names - size &&
	       memcmp((const char *)dtb + fdt_off_dt_strings(dtb) + offset, name, size) == 0;
}

/* Returns the property at offset `at` if it has this name, otherwise NULL. Callers use the first
 * such property of a node. */
static const struct fdt_property *named_property(const void *dtb, int at, const char *name,
                                                 uint32_t size)
{
	const struct fdt_property *property = fdt_offset_ptr(dtb, at, sizeof(*property));

	return property && is_named(dtb, property, name, size) ? property : NULL;
}

int dt_compatible(const void *dtb, int after, const char *compatible)
{
	static const char name[] = "compatible";
	int node = -1, at = after < 0 ? 0 : after, next;

	for (;; at = next) {
		uint32_t tag = fdt_next_tag(dtb, at, &next);
		const struct fdt_property *property;

		if (tag == FDT_END || next < 0)
			return next < 0 ? next : -FDT_ERR_NOTFOUND;
		/* Properties come before child nodes. */
		if (tag == FDT_BEGIN_NODE)
			node = at;
		else if (tag == FDT_END_NODE)
			node = -1;
		if (tag != FDT_PROP || node < 0 || node == after)
			continue;
		property = named_property(dtb, at, name, sizeof(name));
		if (!property)
			continue;
		if (fdt_stringlist_contains(property->data, (int)fdt32_ld(&property->len),
		                            compatible))
			return node;
		node = -1;
	}
}

int dt_memory(const void *dtb, int after)
{
	static const char name[] = "device_type", memory[] = "memory";
	int depth = 0, at = after < 0 ? 0 : after, base = after < 0 ? 2 : 1, node = -1, next;

	for (;; at = next) {
		uint32_t tag = fdt_next_tag(dtb, at, &next);
		const struct fdt_property *property;

		if (tag == FDT_END || next < 0)
			return next < 0 ? next : -FDT_ERR_NOTFOUND;
		if (tag == FDT_BEGIN_NODE)
			node = ++depth == base ? at : -1;
		else if (tag == FDT_END_NODE)
			depth--, node = -1;
		if (depth < base - 1)
			return -FDT_ERR_NOTFOUND;
		if (tag != FDT_PROP || node < 0 || node == after)
			continue;
		property = named_property(dtb, at, name, sizeof(name));
		if (!property)
			continue;
		if (fdt_stringlist_contains(property->data, (int)fdt32_ld(&property->len), memory))
			return node;
		node = -1;
	}
}
