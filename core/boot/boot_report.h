/* SPDX-License-Identifier: Apache-2.0 */
/* What Tally found on this machine, in a few lines. */
#ifndef CORE_BOOT_BOOT_REPORT_H
#define CORE_BOOT_BOOT_REPORT_H

#include "core/hart/pcpu.h"
#include "core/lib/types.h"

/* Returns why a hart with this id and these extensions cannot run guests. NULL: it can. */
const char *hart_unusable(uint64_t hartid, uint64_t isa);

/* Where the boot hart cannot run guests, one that can begins anew in its place, with the same host
 * tree: firmware that draws lots may have chosen any. Panics if there is none, and says what is
 * missing. */
void boot_report_require(uint64_t hartid, uint64_t isa, void *dtb);

/* Notes why platform.harts[i] is not used, and logs it. */
void boot_report_unused(uint32_t i, const char *why);

/* Returns whether platform.harts[i] can run guests. If not, it notes and logs why. */
bool boot_report_usable(uint32_t i);

/* Returns why Tally does not use a hart with this id. NULL: the machine has none. After
 * harts_start(). */
const char *hart_why_unused(uint64_t hartid);

/* Logs each extension that the host's tree promises, and that the hart has not got. After
 * pcpu_init(), whatever it returned. */
void boot_report_lost(const struct pcpu *pcpu);

void boot_report_machine(void);

#endif
