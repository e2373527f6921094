/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Correct and incorrect calls that damage the state of some firmware. Results after such a call
 * cannot be trusted, so each set needs its own boot. Some firmware does not return from some of the
 * calls, so there is a line before each, and `from=N` on bootargs leaves out the first N.
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

/* base + highest bit of the mask is 0 or small, modulo 2^64. */
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

/* Some firmware reads the table at any address. */
#define ADDR    SBI_ERR_INVALID_ADDRESS
#define NOWHERE 0x4000000000UL /* 256 GiB, outside any guest's RAM */

static uint64_t table[2] __attribute__((aligned(16)));
#define TABLE ((unsigned long)table)

static const struct pmu_case info[] = {
    INFO("address 0 -> INVALID_ADDRESS", 0, 0, 1, 0, ADDR),
    INFO("no RAM -> INVALID_ADDRESS", NOWHERE, 0, 1, 0, ADDR),
    INFO("2^60 entries -> INVALID_ADDRESS", TABLE, 0, 1UL << 60, 0, ADDR),
    INFO("2^60 + 1 entries -> INVALID_ADDRESS", TABLE, 0, (1UL << 60) + 1, 0, ADDR),
    INFO("2^64 - 1 entries -> INVALID_ADDRESS", TABLE, 0, ~0UL, 0, ADDR),
    INFO("the last 16 bytes of all -> INVALID_ADDRESS", ~0xfUL, 0, 1, 0, ADDR),
};

/* Some firmware loses half of its shared memory when it refuses another one. */
static char page[4096] __attribute__((aligned(4096)));

static const struct pmu_case shmem[] = {
    SET_PAGE("a page", (unsigned long)page, 0, 0, 0),
    SET_PAGE("no RAM -> INVALID_ADDRESS", NOWHERE, 0, 0, ADDR),
    CONFIG("instructions to C, for the snapshot", 0, M_C, 0, EVENT_INSTRUCTIONS, 0, 0, W_C),
    START("from the page that was set before another was refused", 0, M_C,
          SBI_PMU_START_FLAG_INIT_SNAPSHOT, 0, 0),
};

static const struct {
	const char *name;
	const struct pmu_case *cases;
	size_t n;
} corrupting[] = {
    {"fw-base", fw_base, sizeof(fw_base) / sizeof(fw_base[0])},
    {"fw-base-start", fw_base_start, sizeof(fw_base_start) / sizeof(fw_base_start[0])},
    {"wrap", wrap, sizeof(wrap) / sizeof(wrap[0])},
    {"info", info, sizeof(info) / sizeof(info[0])},
    {"shmem", shmem, sizeof(shmem) / sizeof(shmem[0])},
};
#define CORRUPTING (sizeof(corrupting) / sizeof(corrupting[0]))

static void run(const struct pmu_case *cases, size_t n)
{
	for (size_t i = bootarg_num("from", 0); i < n; i++) {
		print("TRY %s %s\n", cases[i].section, cases[i].name);
		run_rows(&cases[i], 1);
	}
	reset_all();
}

/* Whether the firmware has the function that the cases are about. */
static bool is_offered(const struct pmu_case *cases)
{
	struct sbiret r = {0, 0};

	if (cases == info)
		r = sbi_pmu(SBI_PMU_EVENT_GET_INFO, TABLE, 0, 0, 0, 0);
	else if (cases == shmem)
		r = sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, ~0UL, ~0UL, 0, 0, 0);
	return r.error != SBI_ERR_NOT_SUPPORTED;
}

bool test_corrupt(const char *name)
{
	if (!fw_obeys()) /* if C is not available A is used, see test_states() */
		fw.c = fw.a;
	for (size_t i = 0; i < CORRUPTING; i++) {
		if (bootarg_is("case", corrupting[i].name)) {
			print("case %s\n", corrupting[i].name);
			if (!is_offered(corrupting[i].cases))
				report_skip(corrupting[i].cases->section, corrupting[i].name,
				            "this optional function is not offered");
			else
				run(corrupting[i].cases, corrupting[i].n);
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
