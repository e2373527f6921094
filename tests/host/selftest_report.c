/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces guests/selftest/report.c: the same lines, and the cases that a host cannot judge. */
#include "tests/host/selftest.h"

#include <stdio.h>
#include <string.h>

#include "guests/selftest/selftest.h"

#include "guests/lib/print.h"

#define KEPT (1U << 18)

struct tally_of_cases cases;

static char kept[KEPT];
static size_t used;
static bool aloud;

/* Their numbers do not depend on the vPMU but on the assembly around an exit. */
static const struct {
	const char *section, *name, *why;
} not_here[] = {
    {"11.5", "instructions in HS: some for each call", "switch.S counts them"},
    {"11.5", "the longest stay can be counted", "switch.S counts it"},
};

void report_begin(bool loud)
{
	cases = (struct tally_of_cases){0, 0, 0};
	used = 0;
	aloud = loud;
}

void guest_output(const char *bytes, size_t n)
{
	if (aloud)
		fwrite(bytes, 1, n, stdout);
	if (n > KEPT - used)
		n = KEPT - used;
	memcpy(kept + used, bytes, n);
	used += n;
}

void report_failures(const char *where)
{
	if (!cases.failed || aloud)
		return;
	printf("%s: %u cases failed:\n", where, cases.failed);
	fwrite(kept, 1, used, stdout);
}

static const char *why_not(const char *section, const char *name)
{
	for (size_t i = 0; i < sizeof(not_here) / sizeof(not_here[0]); i++)
		if (!strcmp(not_here[i].section, section) && !strcmp(not_here[i].name, name))
			return not_here[i].why;
	return NULL;
}

void report(bool ok, const char *section, const char *name)
{
	const char *why = why_not(section, name);

	if (why) {
		report_skip(section, name, why);
		return;
	}
	cases.run++;
	cases.failed += !ok;
	print(ok ? "PASS %s %s\n" : "FAIL %s %s\n", section, name);
}

void report_eq(uint64_t got, uint64_t want, const char *section, const char *name)
{
	report(got == want, section, name);
	if (got != want)
		print("      got %u (0x%x), want %u (0x%x)\n", got, got, want, want);
}

void report_skip(const char *section, const char *name, const char *why)
{
	cases.skipped++;
	print("SKIP %s %s | %s\n", section, name, why);
}

bool report_end(void)
{
	return cases.failed == 0;
}
