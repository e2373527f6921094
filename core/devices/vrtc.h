/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model of the goldfish RTC of one VM ("google,goldfish-rtc", as on QEMU's machine "virt"): a count
 * of nanoseconds that goes on by itself, an alarm, and the level of its interrupt. The caller of
 * each function holds the lock of that VM's devices; any hart may call.
 *
 * All times are nanoseconds since 1970, modulo 2^64. `now` is the machine's time of day
 * (core/hart/time_of_day.h); the guest's differs from it if the guest has set its clock.
 */
#ifndef CORE_DEVICES_VRTC_H
#define CORE_DEVICES_VRTC_H

#include <stdbool.h>
#include <stdint.h>

/* Size of its guest-physical address range in bytes; 8 registers, the rest reads 0. */
#define VRTC_SIZE 0x1000u

struct vrtc {
	uint64_t offset; /* the guest's time minus the machine's */
	uint64_t alarm;  /* in the guest's time; kept while no alarm is set */
	uint32_t high;   /* the upper half of the time whose lower half was read last */
	bool armed;      /* the alarm is still to come */
	bool enabled;    /* the alarm interrupts */
	bool pending;
};

/* Sets the reset state: the guest's time is the machine's. Must be called first. */
void vrtc_init(struct vrtc *r);

/* Guest accesses of 32 bits, at an offset from the base address. The caller handles other widths:
 * they read 0, and writes are ignored. So do accesses to offsets without a register. Call
 * vrtc_irq() and vrtc_due() after a write. */
uint32_t vrtc_read(struct vrtc *r, uint32_t offset, uint64_t now);
void vrtc_write(struct vrtc *r, uint32_t offset, uint32_t value, uint64_t now);

/* The alarm comes, if it is time. */
void vrtc_elapse(struct vrtc *r, uint64_t now);

/* Returns the level of the interrupt line. */
bool vrtc_irq(const struct vrtc *r);

/* Returns the time from `now` to the alarm that will interrupt, ~0 if none will. */
uint64_t vrtc_due(const struct vrtc *r, uint64_t now);

#endif
