/* SPDX-License-Identifier: Apache-2.0 */
#include "core/host/vm_props.h"

#include <libfdt.h>
#include <string.h>

#include "core/lib/text.h"

/* Bounds the time of a search for a property's name: a blob could have any number of names. */
#define MAX_STRINGS 4096U
/* The first version that contains the size of the structure block. dtc has written it since
 * 2007. */
#define FDT_VERSION 17U

/* The refusal names no node, because libfdt may not be able to read the blob. */
static bool refuse_blob(const struct vm_node *n, const char *reason)
{
	struct text t;

	*n->why = (struct vm_refusal){.code = VM_REFUSED_BLOB, .name = "", .node = "/"};
	t = text_begin(n->why->reason, sizeof(n->why->reason));
	text_add(&t, "%s", reason);
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
static bool check_order(const struct vm_node *n)
{
	bool after_child = false;
	int offset = 0;
	int next;

	for (;; offset = next) {
		uint32_t tag = fdt_next_tag(n->blob, offset, &next);

		if (tag == FDT_END)
			return true;
		if (tag == FDT_PROP && after_child)
			return refuse_blob(n, "has a property after a child node");
		if (tag != FDT_NOP)
			after_child = tag == FDT_END_NODE;
	}
}

bool vm_blob_check(const struct vm_node *n, uint64_t blob_size)
{
	int error = -FDT_ERR_TRUNCATED;

	if (blob_size >= sizeof(struct fdt_header))
		error = fdt_check_header(n->blob);
	if (!error && fdt_version(n->blob) < FDT_VERSION)
		error = -FDT_ERR_BADVERSION;
	if (!error && blob_size < fdt_totalsize(n->blob))
		error = -FDT_ERR_TRUNCATED;
	/* libfdt reads tags as aligned words. */
	if (!error && fdt_off_dt_struct(n->blob) % sizeof(fdt32_t))
		error = -FDT_ERR_ALIGNMENT;
	if (!error && fdt_size_dt_strings(n->blob) > MAX_STRINGS)
		return refuse_blob(n, "has more names of properties than any VM tree needs");
	if (!error)
		error = fdt_check_full(n->blob, (size_t)blob_size);
	if (error)
		return refuse_blob(n, blob_error(error));
	return check_order(n);
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

static bool refuse_unknown(const struct vm_node *n, const char *name, const char *const *names,
                           unsigned int count)
{
	const char *meant = "", *question = "";
	int most = 0;

	for (unsigned int i = 0; i < count; i++) {
		int like = likeness(name, names[i]);

		if (like > most) {
			most = like;
			meant = names[i];
			question = "; did you mean ";
		}
	}
	return vm_refuse(n, VM_REFUSED_UNKNOWN_PROPERTY, name,
	                 "is not a property of this node%s%s%s", question, meant, most ? "?" : "");
}

bool vm_read_props(const struct vm_node *n, const char *const *names, unsigned int count,
                   struct vm_prop *props)
{
	int offset;

	for (unsigned int i = 0; i < count; i++)
		props[i] = (struct vm_prop){names[i], NULL, 0};
	fdt_for_each_property_offset(offset, n->blob, n->at)
	{
		const char *name;
		int size;
		const void *data = fdt_getprop_by_offset(n->blob, offset, &name, &size);
		unsigned int i = 0;

		if (!data)
			return vm_refuse(n, VM_REFUSED_BLOB, "", "has a broken property");
		while (i < count && strcmp(name, names[i]) != 0)
			i++;
		if (i == count)
			return refuse_unknown(n, name, names, count);
		if (props[i].data)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, name, "is given twice");
		props[i].data = data;
		props[i].size = (uint32_t)size;
	}
	return true;
}

struct vm_node vm_child(const struct vm_node *n, const char *name)
{
	return vm_node_at(n, fdt_subnode_offset(n->blob, n->at, name));
}

bool vm_refuse_children(const struct vm_node *n)
{
	struct vm_node child = vm_node_at(n, fdt_first_subnode(n->blob, n->at));

	return child.at < 0 ||
	       vm_refuse(&child, VM_REFUSED_UNKNOWN_NODE, "", "no node belongs here");
}

bool vm_has_room(const struct vm_node *n, const char *kind, uint32_t number, uint32_t most)
{
	return number < most ||
	       vm_refuse(n, VM_REFUSED_TOO_MANY, "", "is one %s more than %u", kind, most);
}

bool vm_require(const struct vm_node *n, const struct vm_prop *prop)
{
	return prop->data || vm_refuse(n, VM_REFUSED_MISSING_PROPERTY, prop->name, "is missing");
}

bool vm_read_u64(const struct vm_node *n, const struct vm_prop *prop, uint64_t *value)
{
	if (!prop->data)
		return true;
	if (prop->size != sizeof(*value))
		return vm_refuse(n, VM_REFUSED_SIZE, prop->name,
		                 "is %u bytes long, not 8: one 64-bit number, two cells",
		                 prop->size);
	*value = fdt64_ld(prop->data);
	return true;
}

bool vm_read_u32(const struct vm_node *n, const struct vm_prop *prop, uint32_t *value)
{
	if (!prop->data)
		return true;
	if (prop->size != sizeof(*value))
		return vm_refuse(n, VM_REFUSED_SIZE, prop->name,
		                 "is %u bytes long, not 4: one cell", prop->size);
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

bool vm_refuse_hart(const struct vm_node *n, const char *property, uint64_t id)
{
	const char *why = n->limits->unusable ? n->limits->unusable(id) : NULL;

	if (!why)
		return vm_refuse(n, VM_REFUSED_HART, property, "this machine has no hart %lu", id);
	return vm_refuse(n, VM_REFUSED_HART, property, "hart %lu cannot be used: %s", id, why);
}

bool vm_count_cells(const struct vm_node *n, const struct vm_prop *prop, uint32_t *count)
{
	*count = prop->size / sizeof(fdt32_t);
	return prop->size % sizeof(fdt32_t) == 0 ||
	       vm_refuse(n, VM_REFUSED_SIZE, prop->name,
	                 "is %u bytes long, not a list of cells of 4", prop->size);
}

bool vm_read_mask(const struct vm_node *n, const struct vm_prop *prop, const uint64_t *valid,
                  uint64_t *mask)
{
	const fdt32_t *cells = prop->data;
	uint32_t count;

	if (!cells)
		return true;
	if (!vm_count_cells(n, prop, &count))
		return false;
	*mask = 0;
	/* Ends after at most 65 iterations: the 65th number is out of range or occurs twice. */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number = fdt32_ld(&cells[i]);
		uint32_t bit = valid ? number : vm_hart(&n->limits->harts, number);

		if (!valid && bit >= VM_MAX_HARTS)
			return vm_refuse_hart(n, prop->name, number);
		if (valid && (bit >= 64 || !(*valid >> bit & 1)))
			return vm_refuse(n, VM_REFUSED_COUNTER, prop->name,
			                 "this machine has no counter %u", number);
		if (*mask >> bit & 1)
			return vm_refuse(n, VM_REFUSED_DUPLICATE, prop->name, "names %u twice",
			                 number);
		*mask |= 1ULL << bit;
	}
	return true;
}

bool vm_read_string(const struct vm_node *n, const struct vm_prop *prop, uint32_t max,
                    const char **string)
{
	const char *s = prop->data;

	if (!s)
		return true;
	if (prop->size == 0 || memchr(s, '\0', prop->size) != s + prop->size - 1)
		return vm_refuse(n, VM_REFUSED_STRING, prop->name, "is not one string");
	if (prop->size - 1 > max)
		return vm_refuse(n, VM_REFUSED_STRING, prop->name, "is %u bytes long, more than %u",
		                 prop->size - 1, max);
	*string = s;
	return true;
}

bool vm_read_word(const struct vm_node *n, const struct vm_prop *prop, const char *const *words,
                  uint32_t count, uint32_t *which)
{
	char list[sizeof(n->why->reason)];
	struct text text = text_begin(list, sizeof(list));
	const char *s = "";
	uint32_t i = 0;

	if (!prop->data)
		return true;
	if (!vm_read_string(n, prop, UINT32_MAX, &s))
		return false;
	while (i < count && strcmp(s, words[i]) != 0)
		i++;
	*which = i;
	if (i < count)
		return true;
	for (i = 0; i < count; i++)
		text_add(&text, "%s\"%s\"", !i ? "" : i + 1 < count ? ", " : " or ", words[i]);
	return vm_refuse(n, VM_REFUSED_VALUE, prop->name, "is not %s", list);
}

bool vm_read_choice(const struct vm_node *n, const struct vm_prop *prop, const char *first,
                    const char *second, bool *is_second)
{
	const char *words[] = {first, second};
	uint32_t which = *is_second;

	if (!vm_read_word(n, prop, words, 2, &which))
		return false;
	*is_second = which == 1;
	return true;
}

bool vm_read_on(const struct vm_node *n, const struct vm_prop *prop, bool *on)
{
	bool off = !*on;

	if (!vm_read_choice(n, prop, "on", "off", &off))
		return false;
	*on = !off;
	return true;
}
