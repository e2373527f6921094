/* SPDX-License-Identifier: Apache-2.0 */
/* Tally's own extension (docs/sbi-tally.md), for VMs to which the VM tree gives a part of it. */
#include <string.h>

#include "core/life/shutdown.h"
#include "core/vcpu/vm.h"
#include "core/vsbi/vsbi.h"
#include "vpmu/bits.h"

/* A name is two registers, padded with zeros, so that no guest memory is read. */
_Static_assert(VM_NAME_MAX + 1 == 2 * sizeof(uint64_t), "a name is two registers");

/* Returns the VM of this name if the caller controls it, or NULL, whether or not there is such a
 * VM. */
static struct vm *controlled(uint64_t name, uint64_t more)
{
	const uint64_t wanted[2] = {name, more};
	uint32_t i;

	for_each_bit (i, this_vcpu()->vm->config->controls) {
		if (memcmp(vms[i].config->name, wanted, sizeof(wanted)) == 0)
			return &vms[i];
	}
	return NULL;
}

static VSBI_FN(vsbi_ring)
{
	heart_ring(this_vcpu()->vm);
	return vsbi_result(SBI_SUCCESS, 0);
}

static VSBI_FN(vsbi_vm_state)
{
	/* The numbers of docs/sbi-tally.md, independent of enum vm_state. */
	static const uint8_t numbers[] = {
	    [VM_OFF] = 0, [VM_LOADING] = 1, [VM_RUNNING] = 2, [VM_ENDING] = 3, [VM_CLEARING] = 4,
	};
	struct vm *vm = controlled(a0, a1);
	uint64_t state;

	if (!vm)
		return vsbi_result(SBI_ERR_DENIED, 0);
	/* Read first, so that a life that is seen to run is also counted. */
	state = numbers[atomic_load(&vm->state)];
	return vsbi_result(SBI_SUCCESS, *(const volatile uint64_t *)&vm->life.number << 8 | state);
}

/* START, STOP or RESTART. */
static VSBI_FN(vsbi_vm_command)
{
	static const uint8_t commands[] = {
	    [SBI_TALLY_START] = VM_COMMAND_START,
	    [SBI_TALLY_STOP] = VM_COMMAND_STOP,
	    [SBI_TALLY_RESTART] = VM_COMMAND_RESTART,
	};
	enum vm_command c = commands[fid];
	struct vm *vm = controlled(a0, a1);

	if (!vm)
		return vsbi_result(SBI_ERR_DENIED, 0);
	switch (vm_try_command(vm, c)) {
	case VM_ANSWER_TAKEN:
		return vsbi_result(SBI_SUCCESS, 0);
	case VM_ANSWER_ALREADY:
		return vsbi_result(
		    c == VM_COMMAND_STOP ? SBI_ERR_ALREADY_STOPPED : SBI_ERR_ALREADY_STARTED, 0);
	case VM_ANSWER_BUSY:
		return vsbi_result(SBI_ERR_INVALID_STATE, 0);
	default:
		return vsbi_result(SBI_ERR_FAILED, 0);
	}
}

static VSBI_FN(vsbi_vm_shutdown)
{
	static const int8_t errors[] = {
	    [VM_ANSWER_TAKEN] = SBI_SUCCESS,          [VM_ANSWER_ALREADY] = SBI_ERR_ALREADY_STOPPED,
	    [VM_ANSWER_BUSY] = SBI_ERR_INVALID_STATE, [VM_ANSWER_NO_WAY] = SBI_ERR_NOT_SUPPORTED,
	    [VM_ANSWER_CLOSED] = SBI_ERR_FAILED,
	};
	struct vm *vm = controlled(a0, a1);

	if (!vm)
		return vsbi_result(SBI_ERR_DENIED, 0);
	if (a2 < SHUTDOWN_S_MIN || a2 > SHUTDOWN_S_MAX)
		return vsbi_result(SBI_ERR_INVALID_PARAM, 0);
	return vsbi_result(errors[shutdown_ask(vm, (uint32_t)a2)], 0);
}

const struct vsbi_slot vsbi_tally = {
    .eid = SBI_EXT_TALLY,
    .fn[SBI_TALLY_RING] = vsbi_ring,
    .fn[SBI_TALLY_VM_STATE] = vsbi_vm_state,
    .fn[SBI_TALLY_START] = vsbi_vm_command,
    .fn[SBI_TALLY_STOP] = vsbi_vm_command,
    .fn[SBI_TALLY_RESTART] = vsbi_vm_command,
    .fn[SBI_TALLY_SHUTDOWN] = vsbi_vm_shutdown,
};
