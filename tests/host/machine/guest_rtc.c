/* SPDX-License-Identifier: Apache-2.0 */
/* Guests use their own clock, and its alarm is not forgotten. */
#include "tests/host/machine/guest_acts.h"
#include "tests/host/machine/model.h"

/* Registers of a goldfish RTC; those that set an alarm more often. */
enum { TIME_LOW = 0, TIME_HIGH = 4, ALARM_LOW = 8, ALARM_HIGH = 12, ENABLED = 16 };

static struct chance *luck(void)
{
	return &machine.chance;
}

#define TICK_NS (1000000000UL / MACHINE_TIMEBASE)

void guest_uses_rtc(struct machine_hart *h)
{
	static const uint16_t offsets[] = {ALARM_LOW, ALARM_LOW, ALARM_HIGH, ENABLED, TIME_LOW,
	                                   TIME_HIGH, 20,        24,         28};
	uint64_t soon = machine.time * TICK_NS + below(luck(), 2000000);
	uint32_t rd = 5 + below(luck(), 3), width = percent(luck(), 95) ? 2 : below(luck(), 4);
	uint64_t offset = percent(luck(), 95) ? offsets[below(luck(), ARRAY_SIZE(offsets))]
	                                      : below(luck(), PAGE_SIZE);

	h->x[rd] = offset == ENABLED      ? percent(luck(), 80)
	           : offset == ALARM_HIGH ? soon >> 32
	           : percent(luck(), 85)  ? (uint32_t)soon
	                                  : chance(luck());
	guest_access(h, GUEST_RTC_BASE + offset, percent(luck(), 80), width, rd);
}

/* The hart looks for the VM's alarm: at its time or, on a hart with windows, right behind the turn
 * to the VM's next one. */
static bool looks_for(const struct pcpu *pcpu, const struct vm *vm)
{
	uint64_t at = vm->alarm_at, here = 0;

	for (uint32_t i = 0; pcpu->has_schedule && i < vm->config->n_vcpus; i++) {
		if (vm->vcpus[i]->home == pcpu)
			here |= vm->vcpus[i]->bit;
	}
	if (pcpu->has_schedule && at != ~0UL && (here & ~pcpu->alarm_vcpus))
		return false;
	if (pcpu->has_schedule && !(here & pcpu->present))
		return true;
	if (pcpu->has_schedule && at <= pcpu->turned_at)
		at = pcpu->turned_at + 1;
	return pcpu->poll_times[EXTERNAL_ALARM] <= at;
}

/* An alarm that will interrupt has a host time, not after its own, and a hart looks for it. Other
 * harts may be in HS with the lock of the VM's devices. */
void model_alarm_step(void)
{
	const struct pcpu *pcpu = this_pcpu();

	for (uint32_t i = 0; i < n_vms; i++) {
		const struct vm *vm = &vms[i];

		if (vm->alarm_hart != pcpu->index)
			continue;
		if (!looks_for(pcpu, vm))
			machine_differs("hart %u does not look for the alarm of vm%u", pcpu->index,
			                i);
		if (!vm->config->rtc_source || vm->devices.next != vm->devices.serving)
			continue;
		if (vm->rtc.armed && vm->rtc.enabled && vm->alarm_at == ~0UL)
			machine_differs("the alarm of vm%u is forgotten", i);
		if (vm->state == VM_RUNNING &&
		    vplic_level(&vm->plic, vm->config->rtc_source) != vrtc_irq(&vm->rtc))
			machine_differs("the interrupt of the clock of vm%u is not its level", i);
	}
}
