/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of VM trees. */
#ifndef CORE_TREE_PARSE_H
#define CORE_TREE_PARSE_H

#include "core/host/vm_config.h"

/*
 * Parses a VM tree of at most blob_size bytes; blob is 8-byte aligned. If it returns true, *out is
 * complete and satisfies all constraints in vm_config.h. If it returns false, *why has the refusal,
 * and *out must not be used. The time is linear in the size of the blob's structure, and does not
 * depend on the size of the images.
 */
bool vm_config_parse(const void *blob, uint64_t blob_size, const struct vm_limits *limits,
                     struct vm_tree *out, struct vm_refusal *why);

/*
 * Parses the parts of such a blob that the harts' probes need: the node /pmu, and whether /vms has
 * inexact-counts = "on". Returns false if there is no such node, or if vm_config_parse() will
 * refuse it.
 */
bool vm_config_parse_early(const void *blob, uint64_t blob_size, struct selectors *out,
                           bool *inexact);

#endif
