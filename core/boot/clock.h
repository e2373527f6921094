/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BOOT_CLOCK_H
#define CORE_BOOT_CLOCK_H

#include "core/host/vm_config.h"

/* Sets the machine's time of day, from its RTC and from the VM tree, and logs it. Boot hart only,
 * before guests run. */
void clock_init(const struct vm_tree *tree);

#endif
