/* SPDX-License-Identifier: Apache-2.0 */
/* A guest: its memory, vcpus and devices, from the VM tree to its end. */
#ifndef CORE_VCPU_VM_H
#define CORE_VCPU_VM_H

#include "arch/riscv/hart/gstage.h"
#include "arch/riscv/hart/spinlock.h"
#include "core/devices/vaplic.h"
#include "core/devices/vplic.h"
#include "core/devices/vrtc.h"
#include "core/devices/vuart.h"
#include "core/host/vm_config.h"
#include "core/vcpu/vcpu.h"
#include "core/vcpu/vm_command.h"
#include "core/vcpu/vm_state.h"
#include "core/vcpu/vsbi_slot.h"

struct vm {
	/* Constant after boot. */
	const struct vm_config *config;
	uint32_t index;
	uint64_t vmid; /* index + 1, or 0 for all VMs if a hart has no VMIDs */
	struct gstage gstage;
	/* The VM has read-only shared memory, and a hart might set A and D there, so the VM has no
	 * Svadu. See quirks.ad_past_gstage. */
	bool no_adue;
	/* Host time that requests of this VM took from vcpus of other VMs, and that has not yet
	 * been subtracted from its own time slices. Any hart may add to it. */
	atomic_ulong debt_ticks;
	/* Guest time = host time + htimedelta; guest time starts at 0 in each life. */
	uint64_t htimedelta;

	/* Also constant after boot. */
	struct vcpu *vcpus[VM_MAX_VCPUS];
	hpa_t memory; /* its first piece */
	/* The sources of its PLIC or APLIC that come from the host, and the wire of each. See
	 * core/io/wired.h. */
	uint32_t wired;
	uint8_t wire_of[VPLIC_SOURCES + 1];

	/* For each emulated device, the slots that the VM has. See core/dispatch/mmio.c. */
	uint8_t emulated[VM_EMULATED];

	/* Protects the members below, the wires, and the guest's view of PCI functions. Near the
	 * start, in reach of one instruction, like the first members of struct vcpu. */
	struct spinlock devices;
	struct vplic plic;
	uint64_t plic_outputs; /* bit n: the level last signalled to vcpu n */
	struct vuart uart;
	struct vrtc rtc;
	uint64_t output_waiters; /* bit n: vcpu n waits for room in the console's output */
	struct vaplic aplic;     /* instead of the PLIC, if the VM has an AIA */
	struct vaplic_change aplic_change; /* made by the current access; too large for a stack */
	struct vpci pci;                   /* its functions; see core/io/functions.h */

	/* Also constant after boot. */
	struct power_key *key;            /* see core/io/power_key.h; NULL: it has none */
	struct port *ports[VM_MAX_PORTS]; /* see core/io/ports.h; the first config->n_ports */
	uint8_t bell_of[VM_MAX_SHARED]; /* for each shared memory: the index of its bell plus one */
	struct vpmu_policy pmu_policy;
	struct vpmu_table pmu_table; /* selectors NULL: the VM tree has no node /pmu */
	struct vpmu_known pmu_known[VPMU_KNOWN];
	struct vsbi_slot sbi[VSBI_SLOTS];
	struct vm_image dtb; /* the guest's device tree */
	size_t seed_at;      /* offset of the seed in dtb; 0: no seed */

	/* See core/life/vm_life.h. */
	atomic_uint state;        /* enum vm_state */
	atomic_uint command;      /* enum vm_command that is still to be taken up */
	atomic_bool cannot_start; /* its devices are not at rest, so it cannot start again */
	atomic_uint vcpus_alive;  /* after the end of the VM: vcpus that are still on a hart */
	/* Written by the hart that set the state to VM_ENDING. */
	struct {
		enum vm_end why;
		const struct vcpu *by;
		struct vm_failure failure; /* without a failure only its host time */
	} end;
	/* See core/life/heart.h; in host time. */
	atomic_ulong last_ring; /* the last ring, or the beginning of the life */
	uint64_t heart_at;      /* next check by the lead hart, which owns this; ~0: never */
	struct vm_shutdown shutdown;
	/* See core/io/vm_rtc.c: the host time of the RTC's alarm, ~0 without one, and the hart that
	 * looks for it. Written with `devices`, read without. */
	atomic_ulong alarm_at;
	atomic_uint alarm_hart;
	struct vm_life life;
	struct vm_crash crash;
	struct vm_ended ended;
	struct last_words last;
};

extern struct vm *vms; /* [n_vms] */
extern uint32_t n_vms;

/* Creates every VM of the VM tree. Boot hart only. */
void vms_create(const struct vm_tree *tree);

/* Makes the harts clear and load their VMs, and start them. Boot hart only, as the last step of
 * boot. */
void vms_start(void);

const char *vm_state_name(const struct vm *vm);

/* Whether the VM, which runs, sleeps until an interrupt of a device: each vcpu that is on has
 * suspended itself (SBI HSM) and has no timer. Any hart may call it; for the user, because the
 * answer may be a moment old. */
bool vm_is_asleep(const struct vm *vm);

/*
 * Ends a life: stops all vcpus, on all harts. `by` is the vcpu that caused the end, NULL if none
 * did. `failure` and `value` are for VM_END_FAILED. Any hart may call it; only the first call in a
 * life has an effect.
 */
void vm_end(struct vm *vm, const struct vcpu *by, enum vm_end why, const char *failure,
            uint64_t value);

/* Ends a VM whose guest did not ring in time (core/life/heart.h). Lead hart only. */
void vm_heartbeat_missed(struct vm *vm);

/* Ends the VM of a vcpu that cannot continue. The vcpu is resident on this hart. */
void vm_failed(struct vcpu *vcpu, const char *failure, uint64_t value);

/* Records a ring of the guest. Any hart may call it. No effect for a VM without heartbeat-ms. */
void heart_ring(struct vm *vm);

#endif
