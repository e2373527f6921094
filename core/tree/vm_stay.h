/* SPDX-License-Identifier: Apache-2.0 */
/* The longest stay in HS on a hart with a schedule, and the guard that follows from it. Shared by
 * boot and tools/vm-check. All in instructions of HS and M. */
#ifndef CORE_TREE_VM_STAY_H
#define CORE_TREE_VM_STAY_H

#include "core/host/vm_config.h"

/* A piece of work begins only in a stay that has taken less than this (core/hart/pcpu.h). */
#define VM_STAY_SHORT 2000U

/* At most this many sleeping vcpus are woken in a stay. */
#define VM_STAY_WAKES 8U

/* Sets longest_stay and least_guard_us of a schedule whose other members are set. All VMs of the
 * tree are parsed. ssccfg: all harts drive their counters without the firmware; hctrs: as in
 * struct vm_limits. */
void vm_stay_bounds(const struct vm_tree *tree, struct vm_schedule *s, bool ssccfg, uint64_t hctrs);

#endif
