/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the bytes that bytes= has in hexadecimal, whatever they are. With after= it does so when
 * others have printed.
 */
#include "guests/bare/bare.h"

#define MOST 512UL

static char bytes[MOST];

static uint64_t digit(char ch)
{
	return (uint64_t)(ch <= '9' ? ch - '0' : ch - 'a' + 10);
}

int forge(uint64_t hartid)
{
	const char *text = bootarg("bytes");
	uint64_t n = 0;

	(void)hartid;
	for (; text && n < MOST && text[2 * n] > ' '; n++)
		bytes[n] = (char)(digit(text[2 * n]) << 4 | digit(text[2 * n + 1]));
	for (uint64_t at = 0; at < n;) {
		struct sbiret r = sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, n - at,
		                           (unsigned long)(bytes + at), 0, 0, 0, 0);

		if (r.error)
			return 1;
		at += r.value;
	}
	while (!time_is_up())
		;
	return 0;
}
