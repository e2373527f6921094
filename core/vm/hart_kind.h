/* SPDX-License-Identifier: Apache-2.0 */
/* Could a vcpu go on on another hart and notice nothing? By what boot found out about each. */
#ifndef CORE_VM_HART_KIND_H
#define CORE_VM_HART_KIND_H

#include "core/lib/types.h"

/* For vm_limits.differ: hart ids of harts that are used. */
const char *harts_differ(uint32_t hart, uint32_t other);

#endif
