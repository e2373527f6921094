/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/vm_refusal.h"

#include <libfdt.h>

#include "core/lib/text.h"

void vm_refusal_set(struct vm_refusal *why, enum vm_refusal_code code, const char *property,
                    const char *reason, uint64_t a, uint64_t b)
{
	struct text t;

	why->code = code;
	why->at = 0;
	why->name = property;
	t = text_begin(why->node, sizeof(why->node));
	text_add(&t, "/");
	t = text_begin(why->property, sizeof(why->property));
	text_add_clean(&t, property);
	t = text_begin(why->reason, sizeof(why->reason));
	for (; *reason; reason++) {
		if (*reason != '#') {
			text_add(&t, "%c", *reason);
			continue;
		}
		text_add(&t, "%llu", (unsigned long long)a);
		a = b;
	}
}

void vm_refusal_set_text(struct vm_refusal *why, enum vm_refusal_code code, const char *property,
                         const char *reason)
{
	struct text t;

	vm_refusal_set(why, code, property, "", 0, 0);
	t = text_begin(why->reason, sizeof(why->reason));
	text_add_clean(&t, reason);
}

/* Names come from the blob, so characters that are not printable are kept from the console. */
void vm_refusal_set_node(struct vm_refusal *why, const void *blob, int node)
{
	char path[sizeof(why->node)];
	struct text t = text_begin(why->node, sizeof(why->node));
	const char *name;

	why->at = node;
	if (fdt_get_path(blob, node, path, sizeof(path)) == 0) {
		text_add_clean(&t, path);
		return;
	}
	/* The path is too long. The node's own name is more useful than the beginning of its
	 * path. */
	name = fdt_get_name(blob, node, NULL);
	text_add(&t, ".../");
	text_add_clean(&t, name ? name : "?");
}

void vm_refusal_text(const struct vm_refusal *why, char *text, size_t size)
{
	struct text t;

	if (!size)
		return;
	t = text_begin(text, size);
	text_add_clean(&t, why->node);
	text_add(&t, ": ");
	if (why->property[0]) {
		text_add_clean(&t, why->property);
		text_add(&t, ": ");
	}
	text_add_clean(&t, why->reason);
}
