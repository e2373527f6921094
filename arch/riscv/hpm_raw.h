/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw events: their values mean something to the firmware and the hart alone, so the firmware is
 * asked, each time. Nothing is remembered: what one guest asked for must not decide what another
 * one gets.
 */
#ifndef ARCH_HPM_RAW_H
#define ARCH_HPM_RAW_H

#include "arch/riscv/hpm.h"

uint64_t hpm_raw_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data, uint64_t running);

#endif
