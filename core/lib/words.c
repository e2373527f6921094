/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lib/words.h"

#include "core/lib/printf.h"
#include "core/lib/text.h"

const char *set_text(uint64_t set, char text[SET_TEXT_BYTES])
{
	struct text t = text_begin(text, SET_TEXT_BYTES);

	for (unsigned int i = 0, last; i < 64; i = last + 1) {
		last = i;
		if (!(set >> i & 1))
			continue;
		while (last < 63 && (set >> (last + 1) & 1))
			last++;
		text_add(&t, t.length ? ", %u" : "%u", i);
		if (last > i)
			text_add(&t, last > i + 1 ? " to %u" : ", %u", last);
	}
	if (!set)
		text_add(&t, "none");
	return text;
}

const char *counters_text(uint64_t set, char text[SET_TEXT_BYTES])
{
	char numbers[SET_TEXT_BYTES];
	unsigned int n = 0;

	for (uint64_t left = set; left; left &= left - 1)
		n++;
	if (n)
		(void)tally_snprintf(text, SET_TEXT_BYTES, "%u counter%s (%s)", n,
		                     n == 1 ? "" : "s", set_text(set, numbers));
	else
		(void)tally_snprintf(text, SET_TEXT_BYTES, "no counters");
	return text;
}

/* SBI 3.0 table 5: implementation ids. */
static const char *const firmwares[] = {
    "BBL",    "OpenSBI", "Xvisor",        "KVM",      "RustSBI", "Diosix",
    "Coffer", "Xen",     "PolarFire HSS", "coreboot", "oreboot", "bhyve",
};
#define FIRMWARE_OPENSBI 1U
#define FIRMWARE_KVM     3U
#define FIRMWARE_RUSTSBI 4U

const char *firmware_text(uint64_t impl, uint64_t version, char text[FIRMWARE_TEXT_BYTES])
{
	if (impl >= sizeof(firmwares) / sizeof(firmwares[0]))
		(void)tally_snprintf(text, FIRMWARE_TEXT_BYTES, "firmware %lu version 0x%lx", impl,
		                     version);
	else if (impl == FIRMWARE_OPENSBI)
		(void)tally_snprintf(text, FIRMWARE_TEXT_BYTES, "%s %lu.%lu", firmwares[impl],
		                     version >> 16, version & 0xffff);
	else if (impl == FIRMWARE_KVM || impl == FIRMWARE_RUSTSBI)
		(void)tally_snprintf(text, FIRMWARE_TEXT_BYTES, "%s %lu.%lu.%lu", firmwares[impl],
		                     version >> 16, version >> 8 & 0xff, version & 0xff);
	else
		(void)tally_snprintf(text, FIRMWARE_TEXT_BYTES, "%s version 0x%lx", firmwares[impl],
		                     version);
	return text;
}
