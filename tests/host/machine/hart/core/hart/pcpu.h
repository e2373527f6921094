/* SPDX-License-Identifier: Apache-2.0 */
/* A host's stack does not lead to a hart. */
#ifndef MACHINE_PCPU_H
#define MACHINE_PCPU_H

#define this_pcpu tally_this_pcpu
#include_next "core/hart/pcpu.h"
#undef this_pcpu

struct pcpu *this_pcpu(void);

#endif
