/* SPDX-License-Identifier: Apache-2.0 */
#include <libfdt.h>
#include <stdarg.h>

#include "core/host/vm_props.h"
#include "core/lib/text.h"

/* Writes the node's path, or only its name if the path is too long. Names come from the blob, so
 * characters that are not printable are kept from the console. */
static void add_node(struct text *t, const struct vm_node *n)
{
	char path[sizeof(n->why->node)];
	const char *name;

	if (fdt_get_path(n->blob, n->at, path, sizeof(path)) == 0) {
		text_add_clean(t, path);
		return;
	}
	/* The node's own name is more useful than the beginning of its path. */
	name = fdt_get_name(n->blob, n->at, NULL);
	text_add(t, ".../");
	text_add_clean(t, name ? name : "?");
}

bool vm_refuse(const struct vm_node *n, enum vm_refusal_code code, const char *property,
               const char *format, ...)
{
	struct vm_refusal *why = n->why;
	char reason[sizeof(why->reason)];
	struct text t = text_begin(reason, sizeof(reason));
	va_list args;

	va_start(args, format);
	text_vadd(&t, format, args);
	va_end(args);
	why->code = code;
	why->at = n->at;
	why->name = property;
	t = text_begin(why->node, sizeof(why->node));
	add_node(&t, n);
	t = text_begin(why->property, sizeof(why->property));
	text_add_clean(&t, property);
	t = text_begin(why->reason, sizeof(why->reason));
	text_add_clean(&t, reason);
	return false;
}

void vm_refusal_text(const struct vm_refusal *why, char *text, size_t size)
{
	struct text t = text_begin(text, size);

	text_add(&t, "%s: %s%s%s", why->node, why->property, why->property[0] ? ": " : "",
	         why->reason);
}
