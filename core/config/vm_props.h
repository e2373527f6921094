/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the nodes and properties of a VM tree with nothing overlooked. For the parser only.
 * Every function returns false after filling in the refusal.
 */
#ifndef CORE_CONFIG_VM_PROPS_H
#define CORE_CONFIG_VM_PROPS_H

#include "core/config/vm_config.h"

struct vm_blob {
	const void *blob;
	struct vm_refusal *why;
};

/* A property as it stands in the blob. */
struct vm_prop {
	const char *name;
	const void *data; /* NULL: not given */
	uint32_t size;    /* bytes */
};

bool vm_refuse(const struct vm_blob *b, enum vm_refusal_code code, int node, const char *property,
               const char *reason);
/* As vm_refusal_set() puts numbers in. */
bool vm_refuse_numbers(const struct vm_blob *b, enum vm_refusal_code code, int node,
                       const char *property, const char *reason, uint64_t first, uint64_t second);

/* Is it sound, through and through? Before this nothing else may look at the blob. */
bool vm_blob_check(const struct vm_blob *b, uint64_t blob_size);

/*
 * Reads all properties of the node; refuses any that is not in names, and any given twice.
 * props[i] is that of names[i].
 */
bool vm_read_props(const struct vm_blob *b, int node, const char *const *names, unsigned int n,
                   struct vm_prop *props);
bool vm_refuse_children(const struct vm_blob *b, int node);
bool vm_require(const struct vm_blob *b, int node, const struct vm_prop *prop);

/* A 64-bit number. */
bool vm_read_u64(const struct vm_blob *b, int node, const struct vm_prop *prop, uint64_t *value);

/* One cell. */
bool vm_read_u32(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t *value);

/*
 * A list of cells, each the number of a bit set in valid and none twice, as a mask. A number
 * that is not valid is refused with the code and the reason given.
 */
bool vm_read_list(const struct vm_blob *b, int node, const struct vm_prop *prop, uint64_t valid,
                  enum vm_refusal_code code, const char *reason, uint64_t *mask);

/* One string of at most max bytes without its NUL; it stays in the blob. */
bool vm_read_string(const struct vm_blob *b, int node, const struct vm_prop *prop, uint32_t max,
                    const char **string);

/* One of n words; *which is its index. Leaves *which alone where the property is not given. */
bool vm_read_word(const struct vm_blob *b, int node, const struct vm_prop *prop,
                  const char *const *words, uint32_t n, const char *reason, uint32_t *which);

/* One of two words. Leaves *is_yes alone where the property is not given. */
bool vm_read_choice(const struct vm_blob *b, int node, const struct vm_prop *prop, const char *yes,
                    const char *no, const char *reason, bool *is_yes);

#endif
