/* SPDX-License-Identifier: Apache-2.0 */
/* What tools/vm-check prints of schedules. */
#ifndef TOOLS_VM_CHECK_SCHEDULE_H
#define TOOLS_VM_CHECK_SCHEDULE_H

#include "core/host/vm_config.h"

/* A table of the hart's time for each schedule, and which windows begin late. */
void print_schedules(const struct vm_tree *tree);

/* The member "schedules" of the object, with a comma behind it. */
void print_json_schedules(const struct vm_tree *tree);

#endif
