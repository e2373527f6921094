/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads nodes and properties of a VM tree, and refuses unknown ones. For the parser only. A
 * function that refuses something fills in the refusal and returns false.
 */
#ifndef CORE_HOST_VM_PROPS_H
#define CORE_HOST_VM_PROPS_H

#include "core/host/vm_config.h"

struct vm_blob {
	const void *blob;
	struct vm_refusal *why;
};

/* A property as it is in the blob. */
struct vm_prop {
	const char *name;
	const void *data; /* NULL if it is not given */
	uint32_t size;    /* bytes */
};

bool vm_refuse(const struct vm_blob *b, enum vm_refusal_code code, int node, const char *property,
               const char *reason);
/* Refuses a property. The numbers replace the first and the second `#` in the reason, see
 * vm_refusal_set(). */
bool vm_refuse_numbers(const struct vm_blob *b, enum vm_refusal_code code, int node,
                       const char *property, const char *reason, uint64_t first, uint64_t second);

/* Refuses a property. The reason has the format of core/lib/printf.h; its arguments may be strings
 * from a blob. */
bool vm_refuse_text(const struct vm_blob *b, enum vm_refusal_code code, int node,
                    const char *property, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Checks that the blob is a valid device tree. Must be called before anything else reads it. */
bool vm_blob_check(const struct vm_blob *b, uint64_t blob_size);

/*
 * Reads all properties of the node. Refuses a property that is not in names, or that occurs twice.
 * props[i] becomes the property names[i].
 */
bool vm_read_props(const struct vm_blob *b, int node, const char *const *names, unsigned int n,
                   struct vm_prop *props);
bool vm_refuse_children(const struct vm_blob *b, int node);
bool vm_require(const struct vm_blob *b, int node, const struct vm_prop *prop);

/* Reads a 64-bit number. */
bool vm_read_u64(const struct vm_blob *b, int node, const struct vm_prop *prop, uint64_t *value);

/* Reads one cell. */
bool vm_read_u32(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t *value);

/*
 * Reads a list of cells into a mask. Each cell is the number of a bit, which must be set in
 * `valid`. A number that is not valid is refused with this code and reason, a number that occurs
 * twice as a duplicate.
 */
bool vm_read_list(const struct vm_blob *b, int node, const struct vm_prop *prop, uint64_t valid,
                  enum vm_refusal_code code, const char *reason, uint64_t *mask);

/* The same for a list of hart ids; the bits of the mask are the harts' indexes. */
bool vm_read_harts(const struct vm_blob *b, int node, const struct vm_prop *prop,
                   const struct vm_limits *limits, uint64_t *mask);

/* Refuses the id of a hart that VMs cannot have. property: "" for the node itself. */
bool vm_refuse_hart(const struct vm_blob *b, int node, const char *property,
                    const struct vm_limits *limits, uint64_t id);

/* Reads one string of at most max bytes without its NUL. It stays in the blob. */
bool vm_read_string(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t max,
                    const char **string);

/* Reads one of n words; *which is its index. If the property is not given, *which is not
 * changed. */
bool vm_read_word(const struct vm_blob *b, int node, const struct vm_prop *prop,
                  const char *const *words, uint32_t n, const char *reason, uint32_t *which);

/* Reads one of two words. If the property is not given, *is_second is not changed. */
bool vm_read_choice(const struct vm_blob *b, int node, const struct vm_prop *prop,
                    const char *first, const char *second, bool *is_second);

/* The same for "on" and "off". */
bool vm_read_on(const struct vm_blob *b, int node, const struct vm_prop *prop, bool *on);

#endif
