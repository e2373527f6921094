/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/vm_check/text.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

/* From here on a hart's id is shown as device trees have it, too. */
#define CLUSTER_ID 0x100U

const char *id_text(uint64_t id, char text[ID_BYTES])
{
	if (id < CLUSTER_ID)
		snprintf(text, ID_BYTES, "%" PRIu64, id);
	else
		snprintf(text, ID_BYTES, "%" PRIu64 " (0x%" PRIx64 ")", id, id);
	return text;
}

const char *range_end(uint64_t first, uint64_t last)
{
	return last == first ? NULL : last == first + 1 ? ", " : " to ";
}

/* Of bit i, or of hart i. */
static uint32_t number(const struct vm_harts *harts, uint32_t i)
{
	return harts ? harts->ids[i] : i;
}

static const char *list(const struct vm_harts *harts, uint64_t mask)
{
	static char text[(ID_BYTES + 4) * 64];
	char id[ID_BYTES];
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0, last; i < 64; i = last + 1) {
		const char *end;

		last = i;
		if (!(mask >> i & 1))
			continue;
		while (last < 63 && (mask >> (last + 1) & 1) &&
		       number(harts, last + 1) == number(harts, last) + 1)
			last++;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "",
		                      id_text(number(harts, i), id));
		end = range_end(number(harts, i), number(harts, last));
		if (end)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", end,
			                      id_text(number(harts, last), id));
	}
	return text;
}

static const char *json_list(const struct vm_harts *harts, uint64_t mask)
{
	static char text[12 * 64];
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < 64; i++) {
		if (mask >> i & 1)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%" PRIu32,
			                      n ? "," : "", number(harts, i));
	}
	return text;
}

const char *set_list(uint64_t mask, bool json)
{
	return json ? json_list(NULL, mask) : list(NULL, mask);
}

const char *hart_list(const struct vm_harts *harts, uint64_t mask, bool json)
{
	return json ? json_list(harts, mask) : list(harts, mask);
}

const char *names_of(const struct vm_tree *tree, uint32_t mask, bool json)
{
	static char text[VM_MAX_VMS * (VM_NAME_MAX + 4)];
	const char *between = "";
	size_t n = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < tree->n_vms; i++) {
		if (!(mask >> i & 1))
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, json ? "%s\"%s\"" : "%s%s",
		                      between, tree->vms[i].name);
		between = json ? "," : ", ";
	}
	return text;
}

const char *human(uint64_t bytes)
{
	static char texts[2][32];
	static unsigned int turn;
	char *text = texts[turn ^= 1];

	if (bytes < 1024)
		snprintf(text, sizeof(texts[0]), "%" PRIu64 " bytes", bytes);
	else if (bytes < 1 << 20)
		snprintf(text, sizeof(texts[0]), "%.4g KiB", (double)bytes / 1024);
	else if (bytes >> 20 < 1000)
		snprintf(text, sizeof(texts[0]), "%.6g MiB", (double)bytes / (1 << 20));
	else
		snprintf(text, sizeof(texts[0]), "%" PRIu64 " MiB", bytes >> 20);
	return text;
}
