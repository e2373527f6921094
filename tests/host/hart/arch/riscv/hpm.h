/* SPDX-License-Identifier: Apache-2.0 */
/* A host has no counters to read. */
#ifndef HOST_HPM_H
#define HOST_HPM_H

#define hpm_read hpm_read_of_a_hart
#include_next "arch/riscv/hpm.h"
#undef hpm_read

uint64_t hpm_read(uint32_t hctr);

#endif
