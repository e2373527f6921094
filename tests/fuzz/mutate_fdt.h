/* SPDX-License-Identifier: Apache-2.0 */
/* What trees of one kind are made of. Each program with mutate_fdt.c has its own words. */
#ifndef TESTS_FUZZ_MUTATE_FDT_H
#define TESTS_FUZZ_MUTATE_FDT_H

struct fdt_words {
	const char *const *props, *const *strings, *const *nodes; /* each ends with NULL */
};

extern const struct fdt_words fdt_words;

#endif
