/* SPDX-License-Identifier: Apache-2.0 */
/* The other harts of the machine: what the firmware says of them is not believed. */
#ifndef CORE_BOOT_HARTS_H
#define CORE_BOOT_HARTS_H

#include "core/lib/types.h"

/*
 * Starts those that can run guests, one after the other, and waits for each; sets n_pcpus. One that
 * cannot be had is named in the boot report, and the machine goes on without. At boot, once, on the
 * boot hart.
 */
void harts_start(uint64_t boot_hartid);

#endif
