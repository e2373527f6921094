/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one line for each case, and counts them. */
#include "guests/selftest/selftest.h"

#include "guests/lib/print.h"

static uint64_t passed, failed, known, skipped;

void report(bool ok, const char *section, const char *name)
{
	const char *why = ok ? NULL : known_deviation(section, name);

	if (ok) {
		passed++;
		print("PASS %s %s\n", section, name);
	} else if (why) {
		known++;
		print("KNOWN %s %s | %s\n", section, name, why);
	} else {
		failed++;
		print("FAIL %s %s\n", section, name);
	}
}

void report_eq(uint64_t got, uint64_t want, const char *section, const char *name)
{
	report(got == want, section, name);
	if (got != want)
		print("      got %u (0x%x), want %u (0x%x)\n", got, got, want, want);
}

void report_skip(const char *section, const char *name, const char *why)
{
	skipped++;
	print("SKIP %s %s | %s\n", section, name, why);
}

bool report_end(void)
{
	print("%u known, %u skipped\n", known, skipped);
	print("%u passed, %u failed\n", passed, failed);
	return failed == 0;
}
