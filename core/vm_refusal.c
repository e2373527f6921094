/* SPDX-License-Identifier: Apache-2.0 */
#include "core/vm_refusal.h"

#include <libfdt.h>
#include <string.h>

/* A string being written, always NUL-terminated; what does not fit is dropped. */
struct text {
	char *at;
	char *end; /* the last byte, kept for the NUL */
};

static struct text text_begin(char *buffer, size_t size)
{
	buffer[0] = '\0';
	return (struct text){buffer, buffer + size - 1};
}

/* Names come from the blob: a console must not be sent what is not printable. */
static void put_char(struct text *t, char c)
{
	if (t->at == t->end)
		return;
	*t->at++ = c >= ' ' && c <= '~' ? c : '?';
	*t->at = '\0';
}

static void put_string(struct text *t, const char *s)
{
	while (*s && t->at != t->end)
		put_char(t, *s++);
}

static void put_number(struct text *t, uint64_t n)
{
	char digits[20];
	unsigned int i = 0;

	do {
		digits[i++] = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	while (i)
		put_char(t, digits[--i]);
}

void vm_refusal_set(struct vm_refusal *why, enum vm_refusal_code code, const char *property,
                    const char *reason, uint64_t a, uint64_t b)
{
	struct text t;

	why->code = code;
	t = text_begin(why->node, sizeof(why->node));
	put_char(&t, '/');
	t = text_begin(why->property, sizeof(why->property));
	put_string(&t, property);
	t = text_begin(why->reason, sizeof(why->reason));
	for (; *reason; reason++) {
		if (*reason != '#') {
			put_char(&t, *reason);
			continue;
		}
		put_number(&t, a);
		a = b;
	}
}

void vm_refusal_set_node(struct vm_refusal *why, const void *blob, int node)
{
	char path[sizeof(why->node)];
	struct text t = text_begin(why->node, sizeof(why->node));
	const char *name;

	if (fdt_get_path(blob, node, path, sizeof(path)) == 0) {
		put_string(&t, path);
		return;
	}
	/* Too long. The node's own name says more than the beginning of its path. */
	name = fdt_get_name(blob, node, NULL);
	put_string(&t, ".../");
	put_string(&t, name ? name : "?");
}

void vm_refusal_text(const struct vm_refusal *why, char *text, size_t size)
{
	struct text t;

	if (!size)
		return;
	t = text_begin(text, size);
	put_string(&t, why->node);
	put_string(&t, ": ");
	if (why->property[0]) {
		put_string(&t, why->property);
		put_string(&t, ": ");
	}
	put_string(&t, why->reason);
}
