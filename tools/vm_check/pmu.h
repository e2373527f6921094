/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/vm-check says of the hardware counters that VMs will get on the host. */
#ifndef TOOLS_VM_CHECK_PMU_H
#define TOOLS_VM_CHECK_PMU_H

#include "core/host/vm_config.h"

/* Returns the hardware counters that the host's tree names, and those that each hart has; 0: it
 * names none. */
uint64_t host_counters(const void *host);

/* Makes harts of what the host's tree says, so that budget_refusal() tells of them what boot would.
 * table: the VM tree has a node /pmu. Once, before the VM tree is parsed. */
void pmu_harts(const struct vm_limits *limits, bool table);

/* Returns the counters that the pmu-counters of VMs name in a VM tree that passes
 * fdt_check_full(). The host's /pmu may lack them and the hart have them. */
uint64_t pmu_asked(const void *blob);

/* Prepares the functions below. Once, with an accepted tree, after pmu_harts(). A VM without
 * pmu-counters keeps those counters only that the host's /pmu names. */
void pmu_prepare(struct vm_tree *tree);

/* Whether VM number `vm` has no hardware counters, whatever its tree asks for, by the harts'
 * extensions. */
bool pmu_uncounted(uint32_t vm);

/* Prints with which results of the trials at boot the budget of VM number `vm` is refused. */
void print_budget_limits(uint32_t vm);

/* Prints the limits that the host's tree shows for VM number `vm`, which has a PMU: as lines, or as
 * JSON's object. Without the host's tree there are no lines, and the object is null. */
void print_pmu_limits(uint32_t vm);
void print_json_pmu_limits(uint32_t vm);

#endif
