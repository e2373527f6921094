/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lib/date.h"

#include <stdbool.h>

#include "core/lib/printf.h"

#define DAY_S      86400U
#define FIRST_YEAR 1970U

static bool is_leap(uint32_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static uint32_t days_of_month(uint32_t year, uint32_t month)
{
	static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return days[month] + (month == 1 && is_leap(year));
}

void date_text(uint64_t seconds, char out[DATE_BYTES])
{
	uint32_t day = (uint32_t)(seconds / DAY_S), rest = (uint32_t)(seconds % DAY_S);
	uint32_t year = FIRST_YEAR, month = 0;

	for (; year < 9999 && day >= 365U + is_leap(year); year++)
		day -= 365U + is_leap(year);
	for (; month < 11 && day >= days_of_month(year, month); month++)
		day -= days_of_month(year, month);
	(void)tally_snprintf(out, DATE_BYTES, "%04u-%02u-%02uT%02u:%02u:%02uZ", year, month + 1,
	                     day + 1, rest / 3600, rest / 60 % 60, rest % 60);
}
