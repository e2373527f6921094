/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the seconds of its clock, sets it to 1970, prints them again, and ends. */
#include "guests/bare/bare.h"
#include "guests/bare/io/rtc.h"

#define NS_PER_S 1000000000UL

int date(uint64_t hartid)
{
	(void)hartid;
	print("date: %u s\n", rtc() / NS_PER_S);
	*rtc_reg(RTC_TIME_HIGH) = 0;
	*rtc_reg(RTC_TIME_LOW) = 0;
	print("date: %u s\n", rtc() / NS_PER_S);
	return 0;
}
