/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All vcpus sleep again and again until their timers, `nap=` ticks and 7 more for each vcpu, so
 * they wake one by one and together. nap=0: they compute. The last vcpu has the guest's device
 * interrupts `wires=`, a mask, enabled at its PLIC. Each vcpu counts the first `fw=` firmware
 * events, and then as many of the hart's. Ends after `ticks=`.
 */
#include "guests/bare/vcpu/smp.h"

#define PLIC         0x0c000000UL
#define PRIORITY(s)  (*(volatile uint32_t *)(PLIC + 4UL * (s)))
#define ENABLE(vcpu) (*(volatile uint32_t *)(PLIC + 0x2000UL + 0x80UL * (vcpu)))
#define STEP         7U /* ticks */

static void enable_wires(uint64_t vcpu)
{
	for (uint32_t source = 1; source < 32; source++)
		PRIORITY(source) = 1;
	ENABLE(vcpu) = (uint32_t)bootarg_num("wires", 0);
}

static void count(uint64_t events)
{
	static const uint64_t of_hart[] = {EVENT_INSTRUCTIONS, EVENT_CYCLES, 0x10019, 0x1001b,
	                                   0x10021};
	struct counters c = find_counters();

	for (uint64_t n = 0; n < events; n++) {
		struct sbiret r = pmu_config(c.hw, 0, of_hart[n % 5]);

		pmu_config(c.fw, SBI_PMU_CFG_FLAG_AUTO_START, SBI_PMU_TYPE_FW << 16 | n);
		if (!r.error)
			pmu_start(BIT(r.value), -10000000000UL);
	}
}

static void nap(uint64_t hartid, struct smp_vcpu *self)
{
	uint64_t ticks = bootarg_num("nap", 0);

	(void)self;
	count(bootarg_num("fw", 0));
	csr_write(sie, IRQ_TIMER);
	while (hartid || !time_is_up()) {
		if (!ticks)
			continue;
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + ticks + STEP * hartid,
		         0, 0, 0, 0, 0);
		__asm__ volatile("wfi");
	}
}

int naps(uint64_t hartid)
{
	uint64_t n = smp_count();
	int bad = 0;

	for (uint64_t i = 1; i < n; i++)
		bad += smp_start(i, nap) != 0;
	if (bootarg("wires"))
		enable_wires(n - 1);
	nap(hartid, NULL);
	print("naps: ends, %u vcpus\n", n);
	return bad;
}
