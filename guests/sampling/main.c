/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the kind of test, by sampling= on bootargs. */
#include "guests/sampling/sampling.h"

static const struct {
	const char *name;
	int (*run)(void);
} kinds[] = {
    {"table", table},       {"steps", steps},   {"unmask", unmask}, {"exits", exits},
    {"rate", rate},         {"chance", chance}, {"watch", watch},   {"armed", armed},
    {"snapshot", snapshot}, {"tlb", tlb},       {"leaks", leaks},   {"storm", storm},
    {"pace", pace},         {"limit", limited}, {"two", two},       {"sweep", sweep},
    {"stand", stand},
};

static uint64_t counters(bool fw)
{
	uint64_t n = sbi_pmu(SBI_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value, found = 0;

	for (uint64_t i = 3; i < n && i < 64; i++) {
		struct sbiret r = sbi_pmu(SBI_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);

		if (!r.error && !!(r.value & SBI_PMU_INFO_TYPE_FW) == fw)
			found |= BIT(i);
	}
	return found;
}

uint64_t hw_counters(void)
{
	return counters(false);
}

uint64_t fw_counters(void)
{
	return counters(true);
}

static uint64_t flags_at_boot;

uint64_t own_flags(uint64_t scountovf, uint64_t used)
{
	return scountovf & ~(flags_at_boot & ~used);
}

uint32_t configure(uint64_t mask, uint64_t flags, uint64_t event)
{
	struct sbiret r = pmu_config(mask, flags, event);

	if (!r.error && mask >> r.value & 1)
		return (uint32_t)r.value;
	print("event 0x%x flags 0x%x: refused\n", event, flags);
	return 0;
}

int guest_main(uint64_t hartid)
{
	(void)hartid;
	trap_guard();
	flags_at_boot = csr_read(CSR_SCOUNTOVF);
	if (trap_unguard().count)
		flags_at_boot = 0;
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (bootarg_is("sampling", kinds[i].name))
			return kinds[i].run();
	print("sampling= is not on bootargs, or is none of the kinds\n");
	return 1;
}
