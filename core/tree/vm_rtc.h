/* SPDX-License-Identifier: Apache-2.0 */
/* The VMs' own clocks. For the parser only. */
#ifndef CORE_TREE_VM_RTC_H
#define CORE_TREE_VM_RTC_H

#include "core/host/vm_config.h"

/* Sets rtc and rtc_source of each VM, after all that takes addresses and interrupts. A VM that has
 * an RTC of the machine's, or something else at the RTC's address, has no clock of its own. */
void vm_choose_rtcs(struct vm_tree *tree);

#endif
