/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of mhpmeventN as they appear in sireg2, and the value of siselect for counter 0. */
#ifndef ARCH_RISCV_COUNTERS_SSCCFG_H
#define ARCH_RISCV_COUNTERS_SSCCFG_H

#define SISELECT_COUNTER0 0x40UL

#define MHPMEVENT_OF       (1UL << 63)
#define MHPMEVENT_MINH     (1UL << 62)
#define MHPMEVENT_SINH     (1UL << 61)
#define MHPMEVENT_UINH     (1UL << 60)
#define MHPMEVENT_VSINH    (1UL << 59)
#define MHPMEVENT_VUINH    (1UL << 58)
#define MHPMEVENT_SELECTOR ((1UL << 56) - 1)

#endif
