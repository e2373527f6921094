/* SPDX-License-Identifier: Apache-2.0 */
#include "core/debug/words.h"

#include <string.h>

#include "arch/riscv/counters/hpm_silent.h"
#include "core/boot/bootargs.h"
#include "core/boot/debug.h"
#include "core/hart/roam.h"
#include "core/log.h"

#define TRIP "tally.trip="

struct debug_words debug_words;
bool debug_no_vmids, hpm_silent_events, vcpus_roam;

static bool take_trip(const char *word, size_t n)
{
	size_t begin = strlen(TRIP);

	if (n < begin || n - begin >= sizeof(debug_words.trip) || strncmp(word, TRIP, begin))
		return false;
	memcpy(debug_words.trip, word + begin, n - begin);
	debug_words.trip[n - begin] = 0;
	return true;
}

bool debug_word(const char *word, size_t n)
{
	static const struct bootargs_flag flags[] = {
	    {"tally.broken", &debug_words.broken},       {"tally.ledger", &debug_words.ledger},
	    {"tally.no-vmids", &debug_no_vmids},         {"tally.roam", &vcpus_roam},
	    {"tally.silent-events", &hpm_silent_events},
	};

	return bootargs_set(flags, ARRAY_SIZE(flags), word, n) || take_trip(word, n);
}

void debug_report(void)
{
	if (hpm_silent_events)
		log_line("WARNING: tally.silent-events: events that a hart may never count are not "
		         "refused, and read 0");
}
