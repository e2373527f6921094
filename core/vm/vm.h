/* SPDX-License-Identifier: Apache-2.0 */
/* A guest: its memory, vcpus and devices, from the VM tree to its end. */
#ifndef CORE_VM_VM_H
#define CORE_VM_VM_H

#include "arch/riscv/gstage.h"
#include "core/vm/guest_dt.h"
#include "core/lib/spinlock.h"
#include "core/vm/vcpu.h"
#include "core/vm/vm_command.h"
#include "core/config/vm_config.h"
#include "core/vm/vm_life.h"
#include "core/devices/vplic.h"
#include "core/vm/vsbi_slot.h"
#include "core/devices/vuart.h"

struct vm {
	/* Constant after boot. */
	const struct vm_config *config;
	uint32_t index;
	uint64_t vmid; /* index + 1, or 0 for all VMs if a hart has no VMIDs */
	struct gstage gstage;
	/* Host time that requests of this VM took from vcpus of other VMs, and that has not been
	 * taken off its own time slices yet. Any hart may add to it. */
	atomic_ulong debt_ticks;
	/* Guest time = host time + htimedelta; guest time starts at 0 in each life. */
	uint64_t htimedelta;

	/* Also constant after boot. */
	hpa_t memory;
	struct vpmu_policy pmu_policy;
	struct vpmu_table pmu_table; /* selectors NULL: the VM tree has no node /pmu */
	struct vpmu_known pmu_known[VPMU_KNOWN];
	struct vsbi_slot sbi[VSBI_SLOTS];
	struct vcpu *vcpus[VM_MAX_VCPUS];
	struct vm_image dtb; /* the guest's device tree */
	size_t seed_at;      /* offset of the seed in it; 0: it has none */

	struct spinlock devices; /* protects the three members below */
	struct vplic plic;
	uint64_t plic_outputs; /* bit n: the level that vcpu n was told last */
	struct vuart uart;

	/* See core/vm/vm_life.h. */
	atomic_uint state;   /* enum vm_state */
	atomic_uint command; /* enum vm_command that was not taken up yet */
	/* After the end of the VM: the number of vcpus that are still on a hart, and of those whose
	 * last line is not in the log yet. */
	atomic_uint vcpus_alive, vcpus_untold;
	/* Written by the hart that set the state to VM_ENDING. */
	struct {
		enum vm_end why;
		const struct vcpu *by;
		const char *failure;
		uint64_t value;
	} end;
	struct vm_life life;
	struct vm_crash crash;
};

extern struct vm vms[VM_MAX_VMS];
extern uint32_t n_vms;

/* Creates every VM of the VM tree. Boot hart only. */
void vms_create(const struct vm_tree *tree);

/* Starts vcpu 0 of each VM. Boot hart only, as the last step of boot. */
void vms_start(void);

/* Passes changed levels of device interrupts on to the vcpus. The caller holds vm->devices. */
void vm_update_interrupts(struct vm *vm);

/* Whether the VM's UART has room for input. */
bool vm_input_space(struct vm *vm);

/* Gives the VM's UART a byte of input. It is dropped if there is no room. */
void vm_input(struct vm *vm, uint8_t byte);

#endif
