/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's RAM at boot: tests, and the report of its use. Boot hart only. */
#ifndef CORE_BOOT_RAM_H
#define CORE_BOOT_RAM_H

#include "core/host/vm_config.h"

/*
 * Tests the first and the last steps of each bank for VMs; `dtb` is the host's tree. Removes RAM
 * that HS cannot access from platform.ram, and logs it; without Tally's own bank the machine is
 * refused. HS runs without translation.
 */
void ram_try(const void *dtb);

/* Logs unused RAM, and why it is unused. */
void ram_report_unused(void);

/* Logs the use of each bank, if there are several. */
void ram_report_use(const struct vm_tree *tree, const struct vm_limits *limits);

#endif
