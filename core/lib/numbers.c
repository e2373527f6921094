/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lib/numbers.h"

#include <string.h>

bool number_cut(const char **at, uint64_t *value)
{
	unsigned int base = strncmp(*at, "0x", 2) == 0 ? 16 : 10;
	const char *s = base == 16 ? *at + 2 : *at;
	const char *begin = s;

	for (*value = 0; s - begin < 16; s++) {
		unsigned int digit = base;

		if (*s >= '0' && *s <= '9')
			digit = (unsigned int)(*s - '0');
		else if (*s >= 'a' && *s <= 'f')
			digit = (unsigned int)(*s - 'a') + 10;
		if (digit >= base)
			break;
		*value = *value * base + digit;
	}
	if (s == begin)
		return false;
	*at = s;
	return true;
}
