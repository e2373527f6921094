/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/vm-check says of the hardware counters that VMs will get on the host. */
#ifndef TOOLS_VM_CHECK_PMU_H
#define TOOLS_VM_CHECK_PMU_H

#include "core/config/vm_config.h"

/* Returns the hardware counters that the host's tree names, and those that each hart has; 0: it
 * names none. */
uint64_t host_counters(const void *host);

/* Prepares the functions below. Once, with an accepted tree and what it was checked against. */
void pmu_prepare(const struct vm_tree *tree, const struct vm_limits *limits);

/* Prints the limits that the host's tree shows for VM number `vm`, which has a PMU: as lines, or as
 * JSON's object. Without the host's tree there are no lines, and the object is null. */
void print_pmu_limits(uint32_t vm);
void print_json_pmu_limits(uint32_t vm);

#endif
