/* SPDX-License-Identifier: Apache-2.0 */
/* A goldfish RTC of the guest's own. Times are in nanoseconds. */
#ifndef GUESTS_RTC_H
#define GUESTS_RTC_H

#include <stdint.h>

#define RTC             0x101000UL
#define RTC_TIME_LOW    0x00UL
#define RTC_TIME_HIGH   0x04UL
#define RTC_ALARM_LOW   0x08UL
#define RTC_ALARM_HIGH  0x0cUL
#define RTC_IRQ_ENABLED 0x10UL
#define RTC_ALARMED     0x18UL /* whether the alarm is still to come */
#define RTC_CLEAR_IRQ   0x1cUL

#define RTC_LONG_NS   5000000UL
#define RTC_SETTLE_NS 20000UL
/* From an alarm to its interrupt, however busy the machine is. */
#define RTC_PATIENCE_NS 60000000000UL

static inline volatile uint32_t *rtc_reg(uint64_t offset)
{
	return (volatile uint32_t *)(RTC + offset);
}

static inline uint64_t rtc(void)
{
	uint64_t low = *rtc_reg(RTC_TIME_LOW);

	return (uint64_t)*rtc_reg(RTC_TIME_HIGH) << 32 | low;
}

static inline void rtc_set_alarm(uint64_t due)
{
	*rtc_reg(RTC_ALARM_HIGH) = (uint32_t)(due >> 32);
	*rtc_reg(RTC_ALARM_LOW) = (uint32_t)due; /* arms it */
}

static inline void rtc_spin(uint64_t ns)
{
	uint64_t end = rtc() + ns;

	while (rtc() < end)
		;
}

#endif
