/* SPDX-License-Identifier: Apache-2.0 */
/* The set-up of a hart. */
#ifndef CORE_BOOT_HART_INIT_H
#define CORE_BOOT_HART_INIT_H

#include "core/hart/pcpu.h"

/* Sets up CSRs, counters and interrupts of the calling hart. Its pcpu is zero except for `blocks`;
 * `blocks` and `isa` are from the host device tree. Returns the reason why no guest can run on it,
 * and stores it in `unfit_reason`; NULL if guests can run. */
const char *pcpu_init(uint64_t hartid, uint32_t index, uint64_t isa);

#endif
