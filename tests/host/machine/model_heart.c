/* SPDX-License-Identifier: Apache-2.0 */
/* Heartbeats: a VM has failed if it did not ring in time, not sooner, and not much later. */
#include "tests/host/machine/model.h"

/* Of each VM: its last ring that it knows of, the one before or the begin of its life, the life in
 * which that was, the last one that the lead hart has seen, and its last failure. */
static struct {
	uint64_t rang, before, life, seen, failed;
} hearts[VM_MAX_VMS];

/* Of each vcpu of each VM: the ring that it is making. */
static struct {
	uint64_t at, life;
} rings[VM_MAX_VMS][VM_MAX_VCPUS];

static uint64_t period(const struct vm *vm)
{
	return vm->config->heartbeat_ms * (uint64_t)MACHINE_TIMEBASE / 1000;
}

void model_rings(const struct vcpu *vcpu)
{
	rings[vcpu->vm->index][vcpu->id].at = machine.time;
	rings[vcpu->vm->index][vcpu->id].life = vcpu->vm->life.number;
}

/* It was made in the life in which it was begun, or the VM would not run now. */
static void has_rung(const struct vcpu *vcpu)
{
	const struct vm *vm = vcpu->vm;
	uint64_t *at = &rings[vm->index][vcpu->id].at;

	if (*at && vm->state == VM_RUNNING && vm->life.number == rings[vm->index][vcpu->id].life) {
		bool first = hearts[vm->index].life != vm->life.number;

		if (first || hearts[vm->index].rang < *at) {
			hearts[vm->index].before = first ? vm->life.begun : hearts[vm->index].rang;
			hearts[vm->index].rang = *at;
		}
		hearts[vm->index].life = vm->life.number;
	}
	*at = 0;
}

static void look_at_end(const struct vm *vm)
{
	const struct vm_crash *crash = &vm->crash;
	uint64_t rang = hearts[vm->index].life == crash->life ? hearts[vm->index].rang : 0;
	/* A ring that is late may be made while the lead hart has looked already. One that it has
	 * seen was in time, or counts all the same. */
	bool late =
	    rang && rang >= hearts[vm->index].before + period(vm) && hearts[vm->index].seen != rang;

	if (crash->life == hearts[vm->index].failed)
		return;
	hearts[vm->index].failed = crash->life;
	if (!crash->failure.unit)
		return;
	if (crash->age < period(vm) || (!late && crash->failure.at < rang + period(vm)))
		machine_differs("vm%u has failed %lu ticks too soon: it did ring", vm->index,
		                rang + period(vm) - crash->failure.at);
}

void model_heart_step(const struct vcpu *vcpu)
{
	for (uint32_t i = 0; i < n_vms; i++) {
		if (hearts[i].rang && vms[i].heart_at == hearts[i].rang + period(&vms[i]))
			hearts[i].seen = hearts[i].rang;
		look_at_end(&vms[i]);
	}
	has_rung(vcpu);
}

bool model_is_silent(const struct vm *vm)
{
	return vm->config->heartbeat_ms && vm->state == VM_RUNNING &&
	       machine.time > vm->last_ring + period(vm);
}
