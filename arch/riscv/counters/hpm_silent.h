/* SPDX-License-Identifier: Apache-2.0 */
/* Raw events that the hart accepts, but may never count, are refused. For tests,
 * `tally.silent-events` of `make DEBUG=1` gives them to guests (core/debug/words.h): they read
 * 0. */
#ifndef ARCH_RISCV_COUNTERS_HPM_SILENT_H
#define ARCH_RISCV_COUNTERS_HPM_SILENT_H

#include <stdbool.h>

#ifdef TALLY_DEBUG
extern bool hpm_silent_events; /* constant after boot */
#else
#define hpm_silent_events false
#endif

#endif
