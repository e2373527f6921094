/* SPDX-License-Identifier: Apache-2.0 */
/* Compares a hart with the node /pmu of the VM tree, in words. After the harts' boot. */
#ifndef CORE_BOOT_HART_TABLE_H
#define CORE_BOOT_HART_TABLE_H

#include "core/hart/pcpu.h"

/* For vm_limits.contradicts, of the hart with this index. The text is valid until the next call. */
const char *hart_contradiction(uint32_t hart);

/* Logs which events of the table the hart has. Nothing, if there is no table or no counter. */
void hart_table_report(const struct pcpu *pcpu);

#endif
