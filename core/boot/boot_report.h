/* SPDX-License-Identifier: Apache-2.0 */
/* The boot report: a few lines about the machine. */
#ifndef CORE_BOOT_BOOT_REPORT_H
#define CORE_BOOT_BOOT_REPORT_H

#include "core/hart/pcpu.h"

/* Returns why a hart with this id and these extensions cannot run guests, or NULL if it can. */
const char *hart_unusable(uint64_t hartid, uint64_t isa);

/* If the boot hart cannot run guests, restarts the image on a hart that can, with the same host
 * tree: some firmware chooses the boot hart at random. Panics with the missing features if there is
 * none. */
void boot_report_require(const struct platform_hart *own, void *dtb);
#define BOOT_HART_UNFIT "no guest can run on boot hart %lu: %s"

/* Logs each extension in the host's tree that the hart does not have. After pcpu_init(), whatever
 * it returned. */
void boot_report_missing(const struct pcpu *pcpu);

/* Compares the hart with this index with the node /pmu of the VM tree, in words, after the harts'
 * boot; for vm_limits.contradicts. The text is valid until the next call. */
const char *hart_contradiction(uint32_t hart);

/* Logs which events of the table the hart has. Nothing, if there is no table or no counter. */
void hart_table_report(const struct pcpu *pcpu);

void boot_report_machine(void);

#endif
