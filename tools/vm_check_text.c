/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check_text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/* Of bit i, or of hart i. */
static uint32_t number(const struct vm_harts *harts, uint32_t i)
{
	return harts ? harts->ids[i] : i;
}

static const char *list(const struct vm_harts *harts, uint64_t mask, bool ranges)
{
	static char text[12 * 64];
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t last = i;

		if (!(mask >> i & 1))
			continue;
		while (ranges && last < 63 && (mask >> (last + 1) & 1) &&
		       number(harts, last + 1) == number(harts, last) + 1)
			last++;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%" PRIu32, n ? "," : "",
		                      number(harts, i));
		if (last > i)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "-%" PRIu32,
			                      number(harts, last));
		i = last;
	}
	return text;
}

const char *set_list(uint64_t mask, bool ranges)
{
	return list(NULL, mask, ranges);
}

const char *hart_list(const struct vm_harts *harts, uint64_t mask, bool ranges)
{
	return list(harts, mask, ranges);
}
