/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of the checker, and files. */
#ifndef TOOLS_VM_CHECK_OPTIONS_H
#define TOOLS_VM_CHECK_OPTIONS_H

#include "tools/vm_check/memory.h"

#define NOT_COUNTED UINT64_MAX

struct options {
	const char *file;
	const char *host; /* NULL: not given */
	uint32_t harts;   /* 0: not given */
	struct ram_options ram;
	uint64_t counters; /* NOT_COUNTED: not given */
	bool json;
};

/* Prints why the tree cannot be checked, and exits with status 2. */
_Noreturn void die(const char *what, const char *why);

/* Sets the members of *o that are given. */
void parse_options(int argc, char **argv, struct options *o);

/* Returns the first address of RAM of a machine whose tree is not given. */
uint64_t ram_begin(const struct options *o);

/* Returns a file's contents, for free(). */
void *read_file(const char *name, size_t *size);

#endif
