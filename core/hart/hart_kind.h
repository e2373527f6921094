/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two harts by the results of boot's probes: a vcpu can move between equal harts without
 * noticing. */
#ifndef CORE_HART_HART_KIND_H
#define CORE_HART_HART_KIND_H

#include "core/lib/types.h"

/* For vm_limits.differ. Both arguments are indexes of harts (pcpu.h). Returns NULL if the harts are
 * alike, otherwise the difference, with `#` in place of the hart ids. */
const char *harts_differ(uint32_t hart, uint32_t other);

#endif
