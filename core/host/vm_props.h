/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads nodes and properties of a VM tree, and refuses unknown ones. For the parser only. A
 * function that refuses something fills in the refusal and returns false.
 */
#ifndef CORE_HOST_VM_PROPS_H
#define CORE_HOST_VM_PROPS_H

#include "core/host/vm_config.h"

/* A node of a VM tree, and what its functions need. */
struct vm_node {
	const void *blob;
	int at; /* offset of the node */
	struct vm_refusal *why;
	const struct vm_limits *limits;
	struct vm_tree *tree;
	struct vm_config *vm; /* to which the node belongs; NULL if it belongs to none */
};

/* Returns another node of the tree, for the same VM. Member by member: the compiler would call
 * memcpy() for a copy of the whole. */
static inline struct vm_node vm_node_at(const struct vm_node *n, int at)
{
	return (struct vm_node){n->blob, at, n->why, n->limits, n->tree, n->vm};
}

/* Returns the child with this name, which must exist. */
struct vm_node vm_child(const struct vm_node *n, const char *name);

/* A property as it is in the blob. */
struct vm_prop {
	const char *name;
	const void *data; /* NULL if it is not given */
	uint32_t size;    /* bytes */
};

/*
 * Refuses a property, which may come from the blob; "": the node itself. The reason has the format
 * of core/lib/printf.h; its arguments may be strings from a blob. Returns false.
 */
bool vm_refuse(const struct vm_node *n, enum vm_refusal_code code, const char *property,
               const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Refuses the node if there are `most` of its kind already. */
bool vm_has_room(const struct vm_node *n, const char *kind, uint32_t number, uint32_t most);

/* Checks that the blob is a valid device tree. Must be called before anything else reads it. */
bool vm_blob_check(const struct vm_node *n, uint64_t blob_size);

/*
 * Reads all properties of the node. Refuses a property that is not in names, or that occurs twice.
 * props[i] becomes the property names[i].
 */
bool vm_read_props(const struct vm_node *n, const char *const *names, unsigned int count,
                   struct vm_prop *props);
bool vm_refuse_children(const struct vm_node *n);
bool vm_require(const struct vm_node *n, const struct vm_prop *prop);

/* Each of the following readers does nothing if the property is not given. */

/* Reads a 64-bit number. */
bool vm_read_u64(const struct vm_node *n, const struct vm_prop *prop, uint64_t *value);

/* Reads one cell. */
bool vm_read_u32(const struct vm_node *n, const struct vm_prop *prop, uint32_t *value);

/* Counts the cells of a list. */
bool vm_count_cells(const struct vm_node *n, const struct vm_prop *prop, uint32_t *count);

/* Reads a list of counters into a mask. Refuses those that are not in *valid, and one that occurs
 * twice. Without `valid` it is a list of hart ids; the bits of the mask are the harts' indexes. */
bool vm_read_mask(const struct vm_node *n, const struct vm_prop *prop, const uint64_t *valid,
                  uint64_t *mask);

/* Refuses the id of a hart that VMs cannot have. property: "" for the node itself. */
bool vm_refuse_hart(const struct vm_node *n, const char *property, uint64_t id);

/* Reads one string of at most max bytes without its NUL. It stays in the blob. */
bool vm_read_string(const struct vm_node *n, const struct vm_prop *prop, uint32_t max,
                    const char **string);

/* Reads one of some words; *which is its index. */
bool vm_read_word(const struct vm_node *n, const struct vm_prop *prop, const char *const *words,
                  uint32_t count, uint32_t *which);

/* Reads one of two words. */
bool vm_read_choice(const struct vm_node *n, const struct vm_prop *prop, const char *first,
                    const char *second, bool *is_second);

/* The same for "on" and "off". */
bool vm_read_on(const struct vm_node *n, const struct vm_prop *prop, bool *on);

#endif
