/* SPDX-License-Identifier: Apache-2.0 */
/* The guest's accesses to its RTC, and its alarm. */
#ifndef CORE_IO_VM_RTC_H
#define CORE_IO_VM_RTC_H

#include "core/vcpu/vm.h"

/* A life has ended: the clock shows the machine's time of day again, and has no alarm. Lead hart.
 */
void vm_rtc_reset(struct vm *vm);

/* Lets alarms come, at the time that external_poll_at() was given. */
void vm_rtc_poll(void);

/* Accesses of the guest: a row of core/dispatch/mmio.c. */
uint64_t vm_rtc_read(struct vm *vm, uint64_t offset, uint32_t width);
void vm_rtc_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width);

#endif
