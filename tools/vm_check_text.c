/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check_text.h"

#include <stddef.h>
#include <stdio.h>

const char *set_list(uint64_t mask, bool ranges)
{
	static char text[256];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < 64; i++) {
		unsigned int last = i;

		if (!(mask >> i & 1))
			continue;
		while (ranges && last < 63 && (mask >> (last + 1) & 1))
			last++;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%u", n ? "," : "", i);
		if (last > i)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "-%u", last);
		i = last;
	}
	return text;
}
