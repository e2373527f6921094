/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's RAM at boot: whether HS reaches it, and what lies where. Boot hart only. */
#ifndef CORE_BOOT_RAM_H
#define CORE_BOOT_RAM_H

#include "core/host/vm_config.h"
#include "core/lib/types.h"

/*
 * Tries the first and the last steps of each bank that VMs may have; `dtb` is the host's tree. What
 * HS does not reach is taken out of platform.ram, in words; without Tally's own bank the machine is
 * refused. Returns whether all banks are left. HS runs without translation.
 */
bool ram_try(const void *dtb);

/* Returns the bytes of all banks. */
uint64_t ram_sum(void);

/* Logs what is not used, and why. */
void ram_report_unused(void);

/* Logs what lies in each bank, if there are several. */
void ram_report_use(const struct vm_tree *tree, const struct vm_limits *limits);

#endif
