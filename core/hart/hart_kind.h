/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a vcpu can move between two harts without noticing, by what boot found out about each
 * hart. */
#ifndef CORE_HART_HART_KIND_H
#define CORE_HART_HART_KIND_H

#include "core/lib/types.h"

/* For vm_limits.differ. Both arguments are indexes of harts (pcpu.h). Returns NULL if the harts are
 * alike, otherwise the difference, with `#` in place of the hart ids. */
const char *harts_differ(uint32_t hart, uint32_t other);

#endif
