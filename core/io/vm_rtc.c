/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hart on which a guest has written to its RTC last lets the alarm come, even if the vcpu has
 * left it since. So no other hart is interrupted when an alarm is set. An alarm that is due outside
 * the windows of the VM on this hart comes in the next one.
 */
#include "core/io/vm_rtc.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/pcpu.h"
#include "core/hart/time_of_day.h"
#include "core/io/vm_interrupts.h"
#include "core/sched/sched.h"

#define NEVER (~0UL)

/* Returns the host time of an alarm for which this hart looks, ~0 if it looks for none of the VM.
 * Another hart may change both at any time: then this one looks in vain once. */
static uint64_t alarm_here(const struct vm *vm)
{
	if (atomic_load_explicit(&vm->alarm_hart, memory_order_relaxed) != this_pcpu()->index)
		return NEVER;
	return atomic_load_explicit(&vm->alarm_at, memory_order_relaxed);
}

static uint64_t vcpus_here(const struct vm *vm)
{
	uint64_t here = 0;

	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		if (vcpu_home(vm->vcpus[i]) == this_pcpu())
			here |= vm->vcpus[i]->bit;
	}
	return here;
}

/* Whether the VM is outside its windows on this hart. */
static bool is_away(const struct vm *vm)
{
	const struct pcpu *pcpu = this_pcpu();

	return pcpu->has_schedule && !(vcpus_here(vm) & pcpu->present);
}

/* Sets this hart's next look to the first of its alarms. */
static void look_again(void)
{
	struct pcpu *pcpu = this_pcpu();
	uint64_t next = NEVER;

	pcpu->alarm_vcpus = 0;
	for (uint32_t i = 0; i < n_vms; i++) {
		uint64_t at = alarm_here(&vms[i]);

		if (at != NEVER && pcpu->has_schedule)
			pcpu->alarm_vcpus |= vcpus_here(&vms[i]);
		if (at < next && !is_away(&vms[i]))
			next = at;
	}
	external_poll_at(EXTERNAL_ALARM, next);
}

/* Passes the level of the interrupt on. From here on this hart looks for the alarm. The caller
 * holds vm->devices. */
static void settle(struct vm *vm, uint64_t time)
{
	uint64_t due = vrtc_due(&vm->rtc, time_of_day(time));

	vm_set_level(vm, vm->config->rtc_source, vrtc_irq(&vm->rtc));
	atomic_store_explicit(&vm->alarm_hart, this_pcpu()->index, memory_order_relaxed);
	atomic_store_explicit(&vm->alarm_at, due == NEVER ? NEVER : time + time_of_day_ticks(due),
	                      memory_order_relaxed);
}

void vm_rtc_reset(struct vm *vm)
{
	spin_lock(&vm->devices);
	vrtc_init(&vm->rtc);
	atomic_store_explicit(&vm->alarm_at, NEVER, memory_order_relaxed);
	spin_unlock(&vm->devices);
}

uint64_t vm_rtc_read(struct vm *vm, uint64_t offset, uint32_t width)
{
	uint32_t value;

	if (width != sizeof(value))
		return 0;
	spin_lock(&vm->devices);
	value = vrtc_read(&vm->rtc, (uint32_t)offset, time_of_day(csr_read(CSR_TIME)));
	spin_unlock(&vm->devices);
	return value;
}

void vm_rtc_write(struct vm *vm, uint64_t offset, uint64_t value, uint32_t width)
{
	uint64_t time = csr_read(CSR_TIME);

	if (width != sizeof(uint32_t))
		return;
	spin_lock(&vm->devices);
	vrtc_write(&vm->rtc, (uint32_t)offset, (uint32_t)value, time_of_day(time));
	if (vm->config->rtc_source)
		settle(vm, time);
	spin_unlock(&vm->devices);
	look_again();
}

/* The rest of the stay is the VM's, if one of its vcpus is still here. */
static void account_to(const struct vm *vm)
{
	for (uint32_t i = 0; i < vm->config->n_vcpus; i++) {
		if (vcpu_home(vm->vcpus[i]) == this_pcpu()) {
			sched_account_rest_to(vm->vcpus[i]);
			return;
		}
	}
}

static void let_come(struct vm *vm, uint64_t time)
{
	account_to(vm);
	spin_lock(&vm->devices);
	vrtc_elapse(&vm->rtc, time_of_day(time));
	settle(vm, time);
	spin_unlock(&vm->devices);
}

/* One alarm comes in a stay in HS. Not inlined, because each timer interrupt would save more
 * registers. */
__attribute__((noinline)) void vm_rtc_poll(void)
{
	uint64_t time = csr_read(CSR_TIME);
	uint32_t i = 0;

	while (i < n_vms && (alarm_here(&vms[i]) > time || is_away(&vms[i])))
		i++;
	if (i < n_vms)
		let_come(&vms[i], time);
	look_again();
}
