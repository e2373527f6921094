/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser stops at the first refusal, so that it never uses refused input. Here the refused
 * property, or the node if it has no such property, is removed from the blob, and the rest is
 * parsed from the beginning.
 *
 * That may cause refusals that the tree did not deserve: another property needs the removed one, or
 * a VM refers to the removed VM. Those are not reported.
 */
#include "core/tree/vm_refusals.h"

#include <libfdt.h>
#include <string.h>

#include "core/lib/text.h"
#include "core/tree/parse.h"

#define CODE(name) (UINT64_C(1) << VM_REFUSED_##name)

/* Refusals of a value by itself. No removal can cause them. */
#define OF_ITSELF                                                                                  \
	(CODE(BLOB) | CODE(COMPATIBLE) | CODE(UNKNOWN_NODE) | CODE(UNKNOWN_PROPERTY) |             \
	 CODE(DUPLICATE) | CODE(SIZE) | CODE(STRING) | CODE(VALUE) | CODE(TOO_MANY) |              \
	 CODE(MEMORY) | CODE(MEMORY_RAM) | CODE(HART) | CODE(COUNTER) | CODE(EVENT) |              \
	 CODE(EMPTY_IMAGE) | CODE(KERNEL_FILE) | CODE(IMAGE_HEADER) | CODE(RESTARTS))
/* Refusals of a reference, or of a conflict with another node. The removal of another node can
 * cause them. */
#define OF_OTHERS                                                                                  \
	(CODE(NAME) | CODE(NO_VM) | CODE(NO_VCPU) | CODE(PHANDLE) | CODE(MISSING_NODE) |           \
	 CODE(SHARED) | CODE(REGISTERS) | CODE(INTERRUPT) | CODE(BELL))

#define PROP_BYTES 12 /* of a property before its value */

struct search {
	void *blob;
	const struct vm_limits *limits;
	bool others; /* something that other nodes may need was removed or changed */
	uint32_t n;
	struct {
		int node;
		const char *property;
	} steps[VM_REFUSAL_STEPS]; /* refusals so far, reported or not */
};

/* Returns the offset after a node, which may be blank now. */
static int end_of(const void *blob, int node)
{
	int depth = 0;
	uint32_t tag;

	do {
		tag = fdt_next_tag(blob, node, &node);
		depth += (tag == FDT_BEGIN_NODE) - (tag == FDT_END_NODE);
	} while (depth && tag != FDT_END);
	return node;
}

/* Whether this very property, present or missing, was refused before. */
static bool is_again(const struct search *s, const struct vm_refusal *why)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->steps[i].node == why->at && strcmp(s->steps[i].property, why->name) == 0)
			return true;
	}
	return false;
}

/* Whether something was refused in the node, below it, or in a VM or other such node above it. */
static bool is_related(const struct search *s, int node)
{
	for (uint32_t i = 0; i < s->n; i++) {
		int other = s->steps[i].node;

		if (node <= other && other < end_of(s->blob, node))
			return true;
		if (other <= node && node < end_of(s->blob, other) &&
		    fdt_node_depth(s->blob, other) > 1)
			return true;
	}
	return false;
}

static bool is_caused(const struct search *s, const struct vm_refusal *why)
{
	uint64_t code = UINT64_C(1) << why->code;

	/* Without a property, NAME refuses the node's own name, and not a reference. */
	if (code & OF_ITSELF || (code == CODE(NAME) && !why->name[0]))
		return false;
	return code & OF_OTHERS ? s->others : is_related(s, why->at);
}

/* Whether other nodes refer to the property, or depend on it. */
static bool is_needed(const char *name)
{
	static const char *const names[] = {"phandle", "interrupts", "harts", "bell"};

	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strncmp(name, names[i], 4) == 0)
			return true;
	}
	return false;
}

/* Returns a writable pointer into the blob, which libfdt has as const. */
static uint8_t *bytes_at(const struct search *s, int offset)
{
	return (uint8_t *)(uintptr_t)fdt_offset_ptr(s->blob, offset, 0);
}

/* Overwrites a part of the blob's structure with tags that every reader skips. */
static void blank(const struct search *s, int from, int to)
{
	const fdt32_t nop = cpu_to_fdt32(FDT_NOP);

	for (; from < to; from += (int)sizeof(nop))
		memcpy(bytes_at(s, from), &nop, sizeof(nop));
}

/* Gives a property that its node must have a value that is not refused by itself: the lowest hart,
 * or the least memory. Returns the bytes of the property then; 0 if there is no such value, or no
 * room for it. */
static int make_neutral(struct search *s, int at, const char *name, int size)
{
	int length = strcmp(name, "memory") == 0 ? 8 : strcmp(name, "harts") == 0 ? 4 : 0;
	uint8_t *prop = bytes_at(s, at);

	if (!length || size < length)
		return 0;
	/* Four bytes each, big-endian: tag, length, offset of the name. Then the value. */
	prop[7] = (uint8_t)length;
	memset(prop + 4, 0, 3);
	memset(prop + PROP_BYTES, 0, (size_t)length);
	if (length == 8)
		prop[PROP_BYTES + 5] = VM_MEMORY_STEP >> 16;
	else
		fdt32_st(prop + PROP_BYTES, vm_lowest_hart(&s->limits->harts, ~0ULL));
	return PROP_BYTES + length;
}

/* Removes the refused property or node. Returns false if nothing is left that could be parsed
 * without it. */
static bool take_out(struct search *s, const struct vm_refusal *why, bool again)
{
	const char *name;
	int at, next, size;

	fdt_for_each_property_offset(at, s->blob, why->at)
	{
		if (!fdt_getprop_by_offset(s->blob, at, &name, &size) ||
		    strcmp(name, why->name) != 0)
			continue;
		fdt_next_tag(s->blob, at, &next);
		s->others |= is_needed(name);
		blank(s, at + (again ? 0 : make_neutral(s, at, name, size)), next);
		return true;
	}
	s->others = true;
	blank(s, why->at, end_of(s->blob, why->at));
	return why->at > 0;
}

void vm_config_refusals(void *blob, uint64_t blob_size, const struct vm_limits *limits,
                        struct vm_tree *tree, void (*tell)(const char *line))
{
	struct search s = {.blob = blob, .limits = limits};
	char line[VM_REFUSAL_TEXT];
	struct text text = text_begin(line, sizeof(line));
	struct vm_refusal why;
	uint32_t n = 0;
	bool more = true;

	while (more && !vm_config_parse(blob, blob_size, limits, tree, &why)) {
		bool again = is_again(&s, &why);

		if (!again && !is_caused(&s, &why) && n++ < VM_REFUSALS_SHOWN) {
			vm_refusal_text(&why, line, sizeof(line));
			tell(line);
		}
		more = why.code != VM_REFUSED_BLOB && take_out(&s, &why, again) &&
		       s.n < VM_REFUSAL_STEPS;
		if (more) {
			s.steps[s.n].node = why.at;
			s.steps[s.n++].property = why.name;
		}
	}
	if (n <= VM_REFUSALS_SHOWN)
		return;
	text_add(&text, "and %s%u more", s.n < VM_REFUSAL_STEPS ? "" : "at least ",
	         n - VM_REFUSALS_SHOWN);
	tell(line);
}
