/* SPDX-License-Identifier: Apache-2.0 */
#include "core/life/heart.h"

#include "arch/riscv/hart/csr.h"
#include "core/hart/platform.h"
#include "core/life/shutdown.h"
#include "core/sched/port.h"
#include "core/sched/sched.h"
#include "core/vcpu/vm.h"

#define MS_PER_S 1000UL

/* Returns heartbeat-ms in ticks, rounded up. */
static uint64_t period(const struct vm *vm)
{
	return ((uint64_t)vm->config->heartbeat_ms * platform.timebase + MS_PER_S - 1) / MS_PER_S;
}

/* Whether this hart looks at the VM: its deadlines belong to its lead hart. */
static bool is_watched(const struct vm *vm)
{
	return (vm->config->heartbeat_ms || vm->config->shutdown != VM_SHUTDOWN_NONE) &&
	       vcpu_home(vm->vcpus[0]) == this_pcpu();
}

/* Sets the hart's next look to the first deadline of its own VMs. */
static void look_again(void)
{
	uint64_t next = ~0UL;

	for (uint32_t i = 0; i < n_vms; i++) {
		const struct vm *vm = &vms[i];

		if (!is_watched(vm))
			continue;
		if (vm->heart_at < next)
			next = vm->heart_at;
		if (vm->shutdown.at < next)
			next = vm->shutdown.at;
	}
	external_poll_at(EXTERNAL_HEART, next);
}

void heart_watch(struct vm *vm)
{
	if (vm->config->heartbeat_ms)
		vm->heart_at = atomic_load(&vm->last_ring) + period(vm);
	if (is_watched(vm))
		look_again();
}

void heart_ignore(struct vm *vm)
{
	if (!vm->config->heartbeat_ms)
		return;
	vm->heart_at = ~0UL;
	look_again();
}

/* Called at the VM's deadline. If the guest has rung since it was set, there is another one. */
static void look(struct vm *vm)
{
	sched_account_rest_to(vm->vcpus[0]);
	vm->heart_at = atomic_load(&vm->last_ring) + period(vm);
	if (csr_read(CSR_TIME) < vm->heart_at)
		return;
	vm->heart_at = ~0UL;
	vm_heartbeat_missed(vm);
}

/* Not inlined, because each timer interrupt would save more registers. */
__attribute__((noinline)) void heart_poll(void)
{
	uint64_t now = csr_read(CSR_TIME);

	for (uint32_t i = 0; i < n_vms; i++) {
		struct vm *vm = &vms[i];

		if (!is_watched(vm))
			continue;
		if (vm->heart_at <= now)
			look(vm);
		if (vm->shutdown.at <= now && pcpu_may_begin(this_pcpu()))
			shutdown_step(vm, now);
	}
	look_again();
}
