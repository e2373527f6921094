/* SPDX-License-Identifier: Apache-2.0 */
#include "guests/bare/pmu/check.h"

#include "guests/lib/print.h"

static uint64_t checks, failed;

void check(const char *what, uint64_t got, uint64_t wanted)
{
	checks++;
	if (got == wanted)
		return;
	failed++;
	print("wrong: %s: %d, not %d\n", what, got, wanted);
}

void check_error(const char *what, struct sbiret got, long wanted)
{
	check(what, (uint64_t)got.error, (uint64_t)wanted);
}

void check_value(const char *what, struct sbiret got, uint64_t wanted)
{
	check_error(what, got, SBI_SUCCESS);
	check(what, got.value, wanted);
}

int check_end(const char *kind)
{
	print("%s: ends, %u checks, %u failed\n", kind, checks, failed);
	return failed ? 1 : 0;
}
