/* SPDX-License-Identifier: Apache-2.0 */
/* Tally's command line: the words of /chosen bootargs in the host's device tree that begin with
 * "tally.". Others are for the firmware or a boot loader. docs/running.md has the list. */
#ifndef CORE_BOOT_BOOTARGS_H
#define CORE_BOOT_BOOTARGS_H

#include "core/lib/types.h"

/* Sets members of `platform` from these words. Boot hart only. */
void bootargs_read(const void *dtb);

/* Logs a line for each word that this build does not know. Boot hart only, while the tree of
 * bootargs_read() is still there. */
void bootargs_report(void);

struct bootargs_flag {
	const char *word;
	bool *flag;
};

/* Sets the flag of a word of n bytes. Returns false if no flag has this word. */
bool bootargs_set(const struct bootargs_flag *flags, size_t n_flags, const char *word, size_t n);

#endif
