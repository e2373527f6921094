/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out what the firmware has, runs the parts in order, and sums up. */
#include "guests/selftest/selftest.h"

#include "guests/lib/csr.h"
#include "guests/lib/guest.h"
#include "guests/lib/print.h"

struct firmware fw;

static uint32_t lowest(uint64_t mask)
{
	uint32_t i = 0;

	while (!(mask >> i & 1))
		i++;
	return i;
}

static uint32_t highest(uint64_t mask)
{
	uint32_t i = 63;

	while (!(mask >> i & 1))
		i--;
	return i;
}

static unsigned long base(unsigned long fid)
{
	return sbi_call(SBI_EXT_BASE, fid, 0, 0, 0, 0, 0, 0).value;
}

void reset_all(void)
{
	pmu_reset(fw.any | fw.fw);
}

int config_any(uint64_t event, uint64_t flags, const char *section, const char *name)
{
	struct sbiret r = pmu_config(fw.any, flags, event);

	if (r.error || r.value >= 32 || !(fw.any >> r.value & 1)) {
		report(false, section, name);
		return -1;
	}
	return (int)r.value;
}

static void find_counters(void)
{
	fw.counters = sbi_pmu(SBI_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value;
	for (uint32_t i = 0; i < fw.counters && i < 64; i++) {
		struct sbiret r = sbi_pmu(SBI_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);

		if (r.error)
			continue;
		if (r.value & SBI_PMU_INFO_TYPE_FW)
			fw.fw |= BIT(i);
		else if (i < 3)
			fw.fixed |= BIT(i);
		else
			fw.hw |= BIT(i);
	}
}

void find_firmware(uint64_t hartid)
{
	fw.hartid = hartid;
	fw.spec_version = base(SBI_BASE_GET_SPEC_VERSION);
	fw.impl_id = base(SBI_BASE_GET_IMP_ID);
	fw.impl_version = base(SBI_BASE_GET_IMP_VERSION);
	print("selftest: SBI %u.%u", fw.spec_version >> 24, fw.spec_version & 0xffffff);
	print(", implementation 0x%x version 0x%x\n", fw.impl_id, fw.impl_version);
	find_counters();
	print("counters %u: fixed 0x%x, programmable 0x%x", fw.counters, fw.fixed, fw.hw);
	print(", firmware 0x%x\n", fw.fw);
	if (fw.fw)
		fw.fw0 = lowest(fw.fw);
	fw.any = fw.hw;
}

/*
 * If the firmware returns a fixed counter that was not in the set, fixed counters are in the set
 * from now on, so that this one error does not hide what the other cases would find.
 */
static int choose(uint64_t event, const char *name)
{
	struct sbiret r = pmu_config(fw.hw, 0, event);

	if (r.error == SBI_ERR_NOT_SUPPORTED)
		report_skip("11.8", name, "this hart counts none");
	else
		report(!r.error && r.value < 32 && (fw.hw >> r.value & 1), "11.8", name);
	if (r.error || r.value >= 32 || !((fw.hw | fw.fixed) >> r.value & 1))
		return -1;
	fw.any |= BIT(r.value);
	return (int)r.value;
}

/* A and B are where the firmware itself puts the events. C is another counter. */
static bool choose_counters(void)
{
	int a = choose(EVENT_INSTRUCTIONS, "config_matching: instructions on some counter");
	int b = choose(EVENT_CYCLES, "config_matching: cycles on some counter");
	uint64_t rest;

	reset_all();
	if (a < 0 || b < 0 || a == b)
		return false;
	fw.a = (uint32_t)a;
	fw.b = (uint32_t)b;
	rest = fw.hw & ~BIT(a) & ~BIT(b);
	if (!rest || !fw.fw)
		return false;
	fw.c = fw.p = highest(rest);
	print("instructions on %u, cycles on %u, other counter %u\n", (uint64_t)fw.a,
	      (uint64_t)fw.b, (uint64_t)fw.c);
	return true;
}

/*
 * These cases use C. If only A is available, A and C are swapped, so that the cases test starts and
 * stops instead of the same wrong choice again and again.
 */
static void test_states(void)
{
	uint32_t a = fw.a, c = fw.c;

	if (!fw_obeys()) {
		fw.a = c;
		fw.c = a;
	}
	test_calls_states();
	test_calls_run();
	test_snapshot();
	fw.a = a;
	fw.c = c;
}

static void run_all(void)
{
	find_hart();
	test_calls_info();
	test_calls_config();
	test_states();
	test_event_info();
	test_fixed();
	test_values();
	test_count();
	test_user();
	test_firmware();
	test_tally_events();
	test_overflow();
	list_corrupt();
}

int guest_main(uint64_t hartid)
{
	const char *one = bootarg("case");

	find_firmware(hartid);
	if (!sbi_call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, SBI_EXT_PMU, 0, 0, 0, 0, 0).value)
		report(false, "11", "the PMU extension is there");
	else if (!choose_counters()) {
		test_calls_info();
		report_skip(
		    "11", "all the rest",
		    "it wants counters for cycles, for instructions, one more, and a firmware's");
	} else if (one) {
		report(test_corrupt(one), "11", "the case on bootargs exists");
	} else {
		run_all();
	}
	return report_end() ? 0 : 1;
}
