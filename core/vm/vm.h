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
	uint64_t vmid; /* 0 for all VMs on harts without VMIDs, else index + 1 */
	struct gstage gstage;
	/* Host time that its requests took from other VMs' vcpus, not yet taken off its turns. Any
	 * hart. */
	atomic_ulong owed_ticks;
	uint64_t htimedelta; /* guest time = host time + this: starts at 0 in each life */

	/* Constant after boot, too. */
	hpa_t memory;
	struct vpmu_policy pmu_policy;
	struct vpmu_known pmu_known[VPMU_KNOWN];
	struct vsbi_slot sbi[VSBI_SLOTS];
	struct vcpu *vcpus[VM_MAX_VCPUS];
	struct vm_image dtb; /* the device tree that the guest finds, ... */
	size_t seed_at;      /* ... and where the seed of each life goes in it; 0: nowhere */

	struct spinlock devices; /* guards the three below */
	struct vplic plic;
	uint64_t plic_outputs; /* bit n: what vcpu n was told last */
	struct vuart uart;

	/* See core/vm/vm_life.h. */
	atomic_uint state;   /* enum vm_state */
	atomic_uint command; /* enum vm_command, not yet taken up */
	/* After the VM's end: vcpus not yet taken off their harts, and those of which that is not
	 * told. */
	atomic_uint vcpus_alive, vcpus_untold;
	/* Written by the one that made the state ENDING. */
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

/* Makes every VM of the tree. Boot hart. */
void vms_create(const struct vm_tree *tree);

/* Starts the first vcpu of each. Boot hart, last step of boot. */
void vms_start(void);

/* Levels of the device interrupts after a change. vm->devices held. */
void vm_update_interrupts(struct vm *vm);

/* Room in the VM's UART for typed bytes. */
bool vm_input_space(struct vm *vm);

/* A byte typed for this VM; dropped where there is no room. */
void vm_input(struct vm *vm, uint8_t byte);

#endif
