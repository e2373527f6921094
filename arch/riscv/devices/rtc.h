/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's real-time clock, if it is a goldfish RTC, as that of QEMU's machine "virt". */
#ifndef ARCH_RISCV_DEVICES_RTC_H
#define ARCH_RISCV_DEVICES_RTC_H

#include "core/lib/types.h"

#define RTC_COMPATIBLE "google,goldfish-rtc"

/* Reads its time, in nanoseconds since 1970 (UTC). Returns false if an access to its registers
 * traps. Only while HS runs without translation, and while no guest has the device. */
bool rtc_read(uint64_t base, uint64_t *ns);

#endif
