/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the kind of guest. */
#include "guests/bare/bare.h"

static const struct {
	const char *name;
	int (*run)(uint64_t hartid);
} kinds[] = {
    {"idle", idle},
    {"naps", naps},
    {"busy", busy},
    {"pmuloop", pmuloop},
    {"measure", measure},
    {"faults", faults},
    {"waits", waits},
    {"marks", marks_kind},
    {"hostile", hostile},
    {"hostile-operator", hostile_operator},
    {"wildjump", wildjump},
    {"wildsatp", wildsatp},
    {"reads", reads_kind},
    {"chatter", chatter},
    {"storm", storm},
    {"siege", siege},
    {"cachewrap", cachewrap},
    {"falseflag", falseflag},
    {"clock", clockcheck},
    {"wfi", wfi_kind},
    {"raw", raw_kind},
    {"million", million},
    {"gaps", gaps},
    {"windows", windows_kind},
    {"delays", delays},
    {"budget", budget},
    {"dodge", dodge},
    {"lives", budget_lives},
    {"stops", budget_stops},
    {"last-breath", last_breath},
    {"once-more", once_more},
    {"mix", mix},
    {"steal", steal},
    {"life", life},
    {"crash", crash},
    {"pieces", pieces_kind},
    {"shared", shared_kind},
    {"tables", tables},
    {"bell", bell_kind},
    {"pace", pace},
    {"operator", operator_kind},
    {"smp", smp},
    {"hsm", hsm_kind},
    {"chain", chain},
    {"asks", asks},
    {"seed", seed},
    {"control", control},
    {"rounding", rounding},
    {"divide", divide},
    {"sbi", sbi_calls},
    {"flood", flood},
    {"blocks", blocks},
    {"records", records},
    {"filters", filters},
    {"forge", forge},
    {"answers", answers},
    {"readback", readback},
    {"fuzz", fuzz},
    {"victim", victim},
    {"uxl", uxl},
    {"aia", aia},
    {"alarm", alarm},
    {"date", date},
    {"device", device},
    {"emulated", emulated},
    {"virt", virt},
    {"virtio", virtio},
    {"pci", pci},
    {"edu", edu},
    {"raid", raid},
    {"net", net},
    {"quiet", quiet_kind},
    {"warden", warden},
    {"asked", asked},
    {"key", key_kind},
    {"heart", heart},
    {"steps", steps_kind},
    {"steady", steady},
    {"tempest", tempest},
    {"ambush", ambush},
    {"sentry", sentry},
};

uint64_t end_time;

struct counters find_counters(void)
{
	struct counters c = {0, 0};
	uint64_t n = sbi_pmu(SBI_PMU_NUM_COUNTERS, 0, 0, 0, 0, 0).value;

	for (uint64_t i = 3; i < n && i < 64; i++) {
		struct sbiret r = sbi_pmu(SBI_PMU_COUNTER_GET_INFO, i, 0, 0, 0, 0);

		if (r.error)
			continue;
		if (r.value & SBI_PMU_INFO_TYPE_FW)
			c.fw |= BIT(i);
		else
			c.hw |= BIT(i);
	}
	return c;
}

/* Sleeps until the guest's `time`. Interrupts have to be off. */
static void sleep_until(uint64_t time)
{
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, time, 0, 0, 0, 0, 0);
	csr_set(sie, IRQ_TIMER);
	for (bool early = true; early; early = csr_read(time) < time)
		__asm__ volatile("wfi");
	csr_clear(sie, IRQ_TIMER);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
}

void sleep_for(uint64_t ticks)
{
	uint64_t before = csr_read(sstatus) & SSTATUS_SIE;

	csr_clear(sstatus, SSTATUS_SIE);
	sleep_until(csr_read(time) + ticks);
	csr_set(sstatus, before);
}

bool next_number(const char **list, uint64_t *value)
{
	if (!*list || **list < '0' || **list > '9')
		return false;
	for (*value = 0; **list >= '0' && **list <= '9'; ++*list)
		*value = 10 * *value + (uint64_t)(**list - '0');
	*list += **list == ',';
	return true;
}

int guest_main(uint64_t hartid)
{
	if (bootarg("after"))
		sleep_until(bootarg_num("after", 0));
	end_time = csr_read(time) + bootarg_num("ticks", 1000000);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (bootarg_is("kind", kinds[i].name))
			return kinds[i].run(hartid);
	print("bare: kind= is not on bootargs, or is none of them\n");
	return 1;
}
