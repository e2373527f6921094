/* SPDX-License-Identifier: Apache-2.0 */
/* Prints one line for each check, and counts them. */
#include "guests/lib/print.h"
#include "guests/netcheck/netcheck.h"

static uint64_t passed, failed, skipped;

void report(bool ok, const char *section, const char *name)
{
	passed += ok;
	failed += !ok;
	print("%s %s %s\n", ok ? "PASS" : "FAIL", section, name);
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
	print("%u skipped\n", skipped);
	print("%u passed, %u failed\n", passed, failed);
	return failed == 0;
}
