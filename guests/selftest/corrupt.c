/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Correct and incorrect calls that damage some firmware's own state. Nothing that comes after
 * one of them can be believed, so each needs a boot of its own.
 */
#include "guests/selftest/table.h"

#include "guests/lib/guest.h"
#include "guests/lib/print.h"

#define BAD SBI_ERR_INVALID_PARAM

static const struct pmu_case fw_base[] = {
    CONFIG("firmware event, base at the first firmware counter", W_FW0, 0xffff, 0, EVENT_FW(5), 0,
           0, V_IN_SET),
    CONFIG("firmware event, base at the first firmware counter, again", W_FW0, 0xfffe, 0,
           EVENT_FW(6), 0, 0, V_IN_SET),
};

static const struct pmu_case fw_base_start[] = {
    CONFIG("firmware event by base, AUTO_START and CLEAR_VALUE", W_FW0, 1,
           SBI_PMU_CFG_FLAG_AUTO_START | SBI_PMU_CFG_FLAG_CLEAR_VALUE, EVENT_FW(5), 0, 0, W_FW0),
    STOP("it was started by base", W_FW0, 1, 0, 0),
};

/* base + highest bit of the mask is 0 or little, modulo 2^64. */
static const struct pmu_case wrap[] = {
    CONFIG("base 2^64 - 1, mask 2 -> INVALID_PARAM", ~0UL, 2, 0, EVENT_INSTRUCTIONS, 0, BAD, 0),
    START("base 2^64 - 1, mask 2 -> INVALID_PARAM", ~0UL, 2, 0, 0, BAD),
    STOP("base 2^64 - 1, mask 2 -> INVALID_PARAM", ~0UL, 2, 0, BAD),
    CONFIG("base 2^64 - 32, mask 2^40 -> INVALID_PARAM", -32UL, 1UL << 40, 0, EVENT_INSTRUCTIONS, 0,
           BAD, 0),
    START("base 2^64 - 32, mask 2^40 -> INVALID_PARAM", -32UL, 1UL << 40, 0, 0, BAD),
    STOP("base 2^64 - 32, mask 2^40, RESET -> INVALID_PARAM", -32UL, 1UL << 40,
         SBI_PMU_STOP_FLAG_RESET, BAD),
};

static const struct {
	const char *name;
	const struct pmu_case *cases;
	size_t n;
} corrupting[] = {
    {"fw-base", fw_base, sizeof(fw_base) / sizeof(fw_base[0])},
    {"fw-base-start", fw_base_start, sizeof(fw_base_start) / sizeof(fw_base_start[0])},
    {"wrap", wrap, sizeof(wrap) / sizeof(wrap[0])},
};
#define CORRUPTING (sizeof(corrupting) / sizeof(corrupting[0]))

bool test_corrupt(const char *name)
{
	for (size_t i = 0; i < CORRUPTING; i++) {
		if (bootarg_is("case", corrupting[i].name)) {
			print("case %s\n", corrupting[i].name);
			run_table(corrupting[i].cases, corrupting[i].n);
			return true;
		}
	}
	print("no such case: %s\n", name);
	return false;
}

void list_corrupt(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < CORRUPTING; i++)
		n += corrupting[i].n;
	print("%u cases that corrupt some firmware left out; a boot each with", n);
	for (size_t i = 0; i < CORRUPTING; i++)
		print(" case=%s", corrupting[i].name);
	print("\n");
}
