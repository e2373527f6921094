/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scounteren alone decides what U may read, however the counter is backed. A is the index that the
 * firmware chose (Tally: read without an exit), C shares its event (trapped reads).
 */
#include "guests/selftest/selftest.h"

#include "guests/lib/csr.h"
#include "guests/lib/trap.h"

/* Reads in U. Returns the cause of its trap, or all ones. */
static struct trap_seen user_read(uint32_t ctr, uint64_t *value)
{
	trap_guard();
	*value = user_run(user_call, 0x5a5a, (uint64_t)read_of(ctr));
	return trap_unguard();
}

static void closed(uint32_t ctr, const char *name)
{
	uint64_t value;
	struct trap_seen seen = user_read(ctr, &value);

	report(seen.cause == CAUSE_ILLEGAL && seen.count == 1 && value == 0x5a5a, "11", name);
}

static void opened(uint32_t ctr, const char *name)
{
	uint64_t value;
	struct trap_seen seen;

	csr_set(scounteren, BIT(ctr));
	seen = user_read(ctr, &value);
	csr_clear(scounteren, BIT(ctr));
	report(seen.cause == ~0UL && value == 77, "11", name);
}

static void second(void)
{
	closed(fw.c, "U, trapped counter, scounteren closed -> illegal instruction");
	opened(fw.c, "U, trapped counter, scounteren open: reads the value");
	csr_write(scounteren, ~BIT(fw.c) & 0xffffffff);
	closed(fw.c, "U, trapped, all of scounteren open but this bit -> illegal instruction");
	csr_write(scounteren, 2);
}

void test_user(void)
{
	uint64_t value;

	if (lacks_filters("11", "what U reads"))
		return;
	csr_write(scounteren, 2);
	pmu_config(BIT(fw.a), SBI_PMU_CFG_FLAG_SET_SINH | SBI_PMU_CFG_FLAG_SET_UINH,
	           EVENT_INSTRUCTIONS);
	pmu_config(BIT(fw.c), SBI_PMU_CFG_FLAG_SET_SINH | SBI_PMU_CFG_FLAG_SET_UINH,
	           EVENT_INSTRUCTIONS);
	closed(fw.a, "U, stopped counter, scounteren closed -> illegal instruction");
	pmu_start(BIT(fw.a) | BIT(fw.c), 77);
	closed(fw.a, "U, direct counter, scounteren closed -> illegal instruction");
	opened(fw.a, "U, direct counter, scounteren open: reads the value");
	/* The bits of other counters must not open this one. */
	csr_write(scounteren, ~BIT(fw.a) & 0xffffffff);
	closed(fw.a, "U, all of scounteren open but this bit -> illegal instruction");
	csr_write(scounteren, 2);
	if (fw_obeys())
		second();
	else
		report_skip("11", "U, trapped counter", "no second counter for the event is given");
	reset_all();

	csr_set(scounteren, BIT(fw.c));
	report_eq(user_read(fw.c, &value).cause, CAUSE_ILLEGAL, "11",
	          "U, unconfigured counter, scounteren open -> illegal instruction");
	csr_clear(scounteren, BIT(fw.c));
}
