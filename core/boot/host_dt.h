/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BOOT_HOST_DT_H
#define CORE_BOOT_HOST_DT_H

#include "core/host/vm_config.h"

/*
 * Reads the host device tree into `platform`, and removes the seed from it. `image` is Tally's own
 * range. Panics with one line if the machine lacks something that Tally needs. Boot hart only,
 * once.
 */
void host_dt_read(void *dtb, uint64_t boot_hartid, struct vm_range image);

/* Returns why Tally does not use a hart with this id, or NULL if the machine has none. After
 * harts_start(). */
const char *hart_why_unused(uint64_t hartid);

#endif
