/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/vm_props.h"

#include <libfdt.h>
#include <stdarg.h>
#include <string.h>

#include "core/host/vm_refusal.h"
#include "core/lib/text.h"

/* Bounds the time of a search for a property's name: a blob could have any number of names. */
#define MAX_STRINGS 4096U
/* The first version that contains the size of the structure block. dtc has written it since
 * 2007. */
#define FDT_VERSION 17U

bool vm_refuse_numbers(const struct vm_blob *b, enum vm_refusal_code code, int node,
                       const char *property, const char *reason, uint64_t first, uint64_t second)
{
	vm_refusal_set(b->why, code, property, reason, first, second);
	vm_refusal_set_node(b->why, b->blob, node);
	return false;
}

bool vm_refuse_text(const struct vm_blob *b, enum vm_refusal_code code, int node,
                    const char *property, const char *format, ...)
{
	char reason[sizeof(b->why->reason)];
	struct text text = text_begin(reason, sizeof(reason));
	va_list args;

	va_start(args, format);
	text_vadd(&text, format, args);
	va_end(args);
	vm_refusal_set_text(b->why, code, property, reason);
	vm_refusal_set_node(b->why, b->blob, node);
	return false;
}

bool vm_refuse(const struct vm_blob *b, enum vm_refusal_code code, int node, const char *property,
               const char *reason)
{
	return vm_refuse_numbers(b, code, node, property, reason, 0, 0);
}

/* The refusal names no node, because libfdt may not be able to read the blob. */
static bool refuse_blob(const struct vm_blob *b, const char *reason)
{
	vm_refusal_set(b->why, VM_REFUSED_BLOB, "", reason, 0, 0);
	return false;
}

static const char *blob_error(int error)
{
	switch (error) {
	case -FDT_ERR_BADMAGIC:
		return "is not a device tree blob";
	case -FDT_ERR_TRUNCATED:
		return "is cut short";
	case -FDT_ERR_BADVERSION:
		return "has a version of the format other than 17";
	case -FDT_ERR_ALIGNMENT:
		return "is not aligned";
	default:
		return "is broken inside";
	}
}

/* libfdt accepts a property after a child node, but never finds it, so it would have no effect. */
static bool check_order(const struct vm_blob *b)
{
	bool after_child = false;
	int offset = 0;
	int next;

	for (;; offset = next) {
		uint32_t tag = fdt_next_tag(b->blob, offset, &next);

		if (tag == FDT_END)
			return true;
		if (tag == FDT_PROP && after_child)
			return refuse_blob(b, "has a property after a child node");
		if (tag != FDT_NOP)
			after_child = tag == FDT_END_NODE;
	}
}

bool vm_blob_check(const struct vm_blob *b, uint64_t blob_size)
{
	int error = -FDT_ERR_TRUNCATED;

	if (blob_size >= sizeof(struct fdt_header))
		error = fdt_check_header(b->blob);
	if (!error && fdt_version(b->blob) < FDT_VERSION)
		error = -FDT_ERR_BADVERSION;
	if (!error && blob_size < fdt_totalsize(b->blob))
		error = -FDT_ERR_TRUNCATED;
	/* libfdt reads tags as aligned words. */
	if (!error && fdt_off_dt_struct(b->blob) % sizeof(fdt32_t))
		error = -FDT_ERR_ALIGNMENT;
	if (!error && fdt_size_dt_strings(b->blob) > MAX_STRINGS)
		return refuse_blob(b, "has more names of properties than any VM tree needs");
	if (!error)
		error = fdt_check_full(b->blob, (size_t)blob_size);
	if (error)
		return refuse_blob(b, blob_error(error));
	return check_order(b);
}

/*
 * Returns the similarity of an unknown name, a, to a known one, b; 0 if it is too small for a
 * suggestion. Two names are similar if they differ in one character; if two neighbouring characters
 * are swapped; if one name is the beginning or end of the other; or if their common beginning and
 * end are two thirds of the longer one. The more common characters and the fewer others, the larger
 * is the result.
 */
static int likeness(const char *a, const char *b)
{
	int na = (int)strlen(a), nb = (int)strlen(b), most = na > nb ? na : nb;
	int least = na + nb - most, begin = 0, end = 0, like;

	while (begin < least && a[begin] == b[begin])
		begin++;
	while (begin + end < least && a[na - 1 - end] == b[nb - 1 - end])
		end++;
	like = begin + end;
	if (like + 1 >= most || 3 * like >= 2 * most || (like == na && na > 2) ||
	    (like == nb && 2 * nb >= na) ||
	    (like + 2 == most && a[begin] == b[begin + 1] && a[begin + 1] == b[begin]))
		return (int)MAX_STRINGS + 2 * like - most;
	return 0;
}

static bool refuse_unknown(const struct vm_blob *b, int node, const char *name,
                           const char *const *names, unsigned int n)
{
	const char *meant = "", *question = "";
	int most = 0;

	for (unsigned int i = 0; i < n; i++) {
		int like = likeness(name, names[i]);

		if (like > most) {
			most = like;
			meant = names[i];
			question = "; did you mean ";
		}
	}
	return vm_refuse_text(b, VM_REFUSED_UNKNOWN_PROPERTY, node, name,
	                      "is not a property of this node%s%s%s", question, meant,
	                      most ? "?" : "");
}

bool vm_read_props(const struct vm_blob *b, int node, const char *const *names, unsigned int n,
                   struct vm_prop *props)
{
	int offset;

	for (unsigned int i = 0; i < n; i++)
		props[i] = (struct vm_prop){names[i], NULL, 0};
	fdt_for_each_property_offset(offset, b->blob, node)
	{
		const char *name;
		int size;
		const void *data = fdt_getprop_by_offset(b->blob, offset, &name, &size);
		unsigned int i = 0;

		if (!data)
			return vm_refuse(b, VM_REFUSED_BLOB, node, "", "has a broken property");
		while (i < n && strcmp(name, names[i]) != 0)
			i++;
		if (i == n)
			return refuse_unknown(b, node, name, names, n);
		if (props[i].data)
			return vm_refuse(b, VM_REFUSED_DUPLICATE, node, name, "is given twice");
		props[i].data = data;
		props[i].size = (uint32_t)size;
	}
	return true;
}

bool vm_refuse_children(const struct vm_blob *b, int node)
{
	int child = fdt_first_subnode(b->blob, node);

	if (child < 0)
		return true;
	return vm_refuse(b, VM_REFUSED_UNKNOWN_NODE, child, "", "no node belongs here");
}

bool vm_require(const struct vm_blob *b, int node, const struct vm_prop *prop)
{
	if (prop->data)
		return true;
	return vm_refuse(b, VM_REFUSED_MISSING_PROPERTY, node, prop->name, "is missing");
}

bool vm_read_u64(const struct vm_blob *b, int node, const struct vm_prop *prop, uint64_t *value)
{
	if (prop->size != sizeof(*value))
		return vm_refuse_numbers(b, VM_REFUSED_SIZE, node, prop->name,
		                         "is # bytes long, not 8: one 64-bit number, two cells",
		                         prop->size, 0);
	*value = fdt64_ld(prop->data);
	return true;
}

bool vm_read_u32(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t *value)
{
	if (prop->size != sizeof(*value))
		return vm_refuse_numbers(b, VM_REFUSED_SIZE, node, prop->name,
		                         "is # bytes long, not 4: one cell", prop->size, 0);
	*value = fdt32_ld(prop->data);
	return true;
}

uint32_t vm_hart(const struct vm_harts *harts, uint64_t id)
{
	uint32_t i = 0;

	while (i < harts->n && harts->ids[i] != id)
		i++;
	return i < harts->n ? i : VM_MAX_HARTS;
}

uint32_t vm_lowest_hart(const struct vm_harts *harts, uint64_t mask)
{
	uint32_t lowest = UINT32_MAX;

	for (uint32_t i = 0; i < harts->n; i++)
		if (mask >> i & 1 && harts->ids[i] < lowest)
			lowest = harts->ids[i];
	return lowest;
}

bool vm_refuse_hart(const struct vm_blob *b, int node, const char *property,
                    const struct vm_limits *limits, uint64_t id)
{
	const char *why = limits->unusable ? limits->unusable(id) : NULL;

	if (!why)
		return vm_refuse_numbers(b, VM_REFUSED_HART, node, property,
		                         "this machine has no hart #", id, 0);
	return vm_refuse_text(b, VM_REFUSED_HART, node, property, "hart %llu cannot be used: %s",
	                      (unsigned long long)id, why);
}

/* Does the work of vm_read_list(). If limits is not NULL, the numbers are hart ids, and each sets
 * the bit of the hart's index. */
static bool read_mask(const struct vm_blob *b, int node, const struct vm_prop *prop,
                      const struct vm_limits *limits, uint64_t valid, enum vm_refusal_code code,
                      const char *reason, uint64_t *mask)
{
	const fdt32_t *cells = prop->data;

	if (prop->size % sizeof(*cells))
		return vm_refuse_numbers(b, VM_REFUSED_SIZE, node, prop->name,
		                         "is # bytes long, not a list of cells of 4", prop->size,
		                         0);
	*mask = 0;
	/* Ends after at most 65 iterations: the 65th number is out of range or occurs twice. */
	for (uint32_t i = 0; i < prop->size / sizeof(*cells); i++) {
		uint32_t n = fdt32_ld(&cells[i]), bit = limits ? vm_hart(&limits->harts, n) : n;

		if (limits && bit >= VM_MAX_HARTS)
			return vm_refuse_hart(b, node, prop->name, limits, n);
		if (bit >= 64 || !(valid >> bit & 1))
			return vm_refuse_numbers(b, code, node, prop->name, reason, n, 0);
		if (*mask >> bit & 1)
			return vm_refuse_numbers(b, VM_REFUSED_DUPLICATE, node, prop->name,
			                         "names # twice", n, 0);
		*mask |= 1ULL << bit;
	}
	return true;
}

bool vm_read_list(const struct vm_blob *b, int node, const struct vm_prop *prop, uint64_t valid,
                  enum vm_refusal_code code, const char *reason, uint64_t *mask)
{
	return read_mask(b, node, prop, NULL, valid, code, reason, mask);
}

bool vm_read_harts(const struct vm_blob *b, int node, const struct vm_prop *prop,
                   const struct vm_limits *limits, uint64_t *mask)
{
	return read_mask(b, node, prop, limits, ~0ULL, VM_REFUSED_HART, NULL, mask);
}

bool vm_read_string(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t max,
                    const char **string)
{
	const char *s = prop->data;

	if (prop->size == 0 || memchr(s, '\0', prop->size) != s + prop->size - 1)
		return vm_refuse(b, VM_REFUSED_STRING, node, prop->name, "is not one string");
	if (prop->size - 1 > max)
		return vm_refuse_numbers(b, VM_REFUSED_STRING, node, prop->name,
		                         "is # bytes long, more than #", prop->size - 1, max);
	*string = s;
	return true;
}

bool vm_read_word(const struct vm_blob *b, int node, const struct vm_prop *prop,
                  const char *const *words, uint32_t n, const char *reason, uint32_t *which)
{
	const char *s;
	uint32_t i = 0;

	if (!prop->data)
		return true;
	if (!vm_read_string(b, node, prop, UINT32_MAX, &s))
		return false;
	while (i < n && strcmp(s, words[i]) != 0)
		i++;
	if (i == n)
		return vm_refuse(b, VM_REFUSED_VALUE, node, prop->name, reason);
	*which = i;
	return true;
}

bool vm_read_choice(const struct vm_blob *b, int node, const struct vm_prop *prop,
                    const char *first, const char *second, bool *is_second)
{
	const char *s;

	if (!prop->data)
		return true;
	if (!vm_read_string(b, node, prop, UINT32_MAX, &s))
		return false;
	if (strcmp(s, first) != 0 && strcmp(s, second) != 0)
		return vm_refuse_text(b, VM_REFUSED_VALUE, node, prop->name,
		                      "is not \"%s\" or \"%s\"", first, second);
	*is_second = strcmp(s, second) == 0;
	return true;
}

bool vm_read_on(const struct vm_blob *b, int node, const struct vm_prop *prop, bool *on)
{
	bool off = !*on;

	if (!vm_read_choice(b, node, prop, "on", "off", &off))
		return false;
	*on = !off;
	return true;
}
