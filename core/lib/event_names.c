/* SPDX-License-Identifier: Apache-2.0 */
#include "core/lib/event_names.h"

#include <string.h>

#include "core/lib/printf.h"
#include "vpmu/sbi_pmu.h"
#include "vpmu/tally_events.h"

#define FW_FIRST    (SBI_PMU_TYPE_FW << 16)
#define TALLY_FIRST (FW_FIRST | TALLY_EVENT_FIRST)

/* SBI 3.0 table 31, from 1 on. `others` has perf's second names for these events. */
static const char *const general[] = {
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "stalled-cycles-backend",
    "ref-cycles",
};

static const struct {
	const char *name;
	uint32_t event_idx;
} others[] = {
    {"cpu-cycles", 1},
    {"branch-instructions", 5},
};

/* SBI 3.0 table 35, and Tally's own. */
static const char *const firmware[] = {
    "fw-misaligned-load",
    "fw-misaligned-store",
    "fw-access-load",
    "fw-access-store",
    "fw-illegal-insn",
    "fw-set-timer",
    "fw-ipi-sent",
    "fw-ipi-received",
    "fw-fence-i-sent",
    "fw-fence-i-received",
    "fw-sfence-vma-sent",
    "fw-sfence-vma-received",
    "fw-sfence-vma-asid-sent",
    "fw-sfence-vma-asid-received",
};
static const char *const own[] = {
    "exits",     "exits-ecall",  "exits-timer", "exits-irq",       "exits-lcofi", "exits-mmio",
    "exits-csr", "exits-wfi",    "exits-other", "hs-instructions", "steal-ticks", "lcofi-injected",
    "refusals",  "longest-stay", "lcofi-held",  "throttled-ticks",
};
_Static_assert(sizeof(own) / sizeof(own[0]) == TALLY_EVENTS, "one name each");

static const struct {
	uint32_t first; /* event_idx of the first name */
	uint32_t n;
	const char *const *names;
} groups[] = {
    {1, sizeof(general) / sizeof(general[0]), general},
    {FW_FIRST, sizeof(firmware) / sizeof(firmware[0]), firmware},
    {TALLY_FIRST, sizeof(own) / sizeof(own[0]), own},
};
#define GROUPS (sizeof(groups) / sizeof(groups[0]))

/* SBI 3.0 tables 32 to 34: a cache, an operation, and hit or miss. */
static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                     "iTLB",      "branch",    "node"};
static const char *const results[] = {"loads",        "load-misses", "stores",
                                      "store-misses", "prefetches",  "prefetch-misses"};
#define CACHES  7U
#define RESULTS 6U

/* Most names differ in the first letter. */
static bool same(const char *a, const char *b, size_t n)
{
	return *a == *b && strncmp(a, b, n) == 0 && b[n] == '\0';
}

static bool cache_of_name(const char *name, size_t n, uint32_t *event_idx)
{
	for (uint32_t c = 0; c < CACHES; c++) {
		size_t head = strlen(caches[c]);

		if (n <= head || memcmp(name, caches[c], head) != 0 || name[head] != '-')
			continue;
		for (uint32_t r = 0; r < RESULTS; r++) {
			if (!same(name + head + 1, results[r], n - head - 1))
				continue;
			*event_idx = SBI_PMU_TYPE_CACHE << 16 | c << 3 | r;
			return true;
		}
	}
	return false;
}

bool event_of_name(const char *name, size_t n, uint32_t *event_idx)
{
	for (uint32_t g = 0; g < GROUPS; g++) {
		for (uint32_t i = 0; i < groups[g].n; i++) {
			*event_idx = groups[g].first + i;
			if (same(name, groups[g].names[i], n))
				return true;
		}
	}
	for (uint32_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		*event_idx = others[i].event_idx;
		if (same(name, others[i].name, n))
			return true;
	}
	return cache_of_name(name, n, event_idx);
}

void event_name(uint32_t event_idx, char name[EVENT_NAME_BYTES])
{
	uint32_t code = SBI_PMU_EVENT_CODE(event_idx);

	for (uint32_t g = 0; g < GROUPS; g++) {
		if (event_idx - groups[g].first >= groups[g].n)
			continue;
		(void)tally_snprintf(name, EVENT_NAME_BYTES, "%s",
		                     groups[g].names[event_idx - groups[g].first]);
		return;
	}
	if (SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_CACHE && code >> 3 < CACHES &&
	    (code & 7) < RESULTS)
		(void)tally_snprintf(name, EVENT_NAME_BYTES, "%s-%s", caches[code >> 3],
		                     results[code & 7]);
	else
		(void)tally_snprintf(name, EVENT_NAME_BYTES, "0x%x", event_idx);
}
