/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the end of a VM to its next life:
 *
 *              vm_end()          all vcpus off,      cleared,
 *     RUNNING ----------> ENDING ------> CLEARING ----------------> OFF
 *        ^                        told     ^   | cleared, again      |
 *        |                     vm_stop()   |   v                     | vm_start()
 *        +------------------------------ LOADING <-------------------+
 *                                 loaded
 *
 * RUNNING becomes ENDING on any hart. All else is done on the lead hart, the home of vcpu 0, in
 * steps that are vcpu 0's turns there: its neighbours keep theirs, and it is charged.
 */
#ifndef CORE_VM_VM_LIFE_H
#define CORE_VM_VM_LIFE_H

#include "arch/riscv/vs_state.h"
#include "core/lib/types.h"

struct vm;
struct vcpu;

enum vm_state {
	VM_LOADING, /* at boot, too: the images are being copied */
	VM_RUNNING,
	VM_ENDING,   /* its vcpus leave their harts, and what happened is told */
	VM_CLEARING, /* so is its memory */
	VM_OFF,      /* nothing of its last life is left but what vm->crash tells */
};

/* Why a life ends. */
enum vm_end {
	VM_END_SHUTDOWN,
	VM_END_ALL_STOPPED, /* the last vcpu stopped itself (HSM) */
	VM_END_REBOOT,
	VM_END_FAILED,
	VM_END_STOP, /* the user's */
	VM_END_RESTART,
	VM_END_POWER_OFF, /* the user's, who does not want the machine either */
};

/* What a vcpu was when its VM failed last. */
struct vm_crash {
	const char *failure; /* one phrase, NULL: it has not failed yet ... */
	uint64_t value;      /* ... and the value that explains it */
	uint32_t vcpu;
	uint64_t x[32];
	struct vs_state vs;
};

/* Private to the lead hart. */
struct vm_life {
	bool again;        /* another life follows this one, ... */
	bool too_often;    /* ... unless there were too many */
	bool off_for_good; /* not among those that keep the machine on */
	uint32_t restarts; /* in a row, since it ran for a minute or the user started it */
	uint64_t begun;    /* host time of its last start */
	uint64_t loaded;   /* lives that all images were there for: each has its seed */
	uint32_t step;     /* of what is told or loaded, */
	uint64_t done;     /* and bytes done of it */
};

const char *vm_state_name(const struct vm *vm);

/*
 * Ends a life: all vcpus stop, on whatever hart. by: the vcpu whose doing it is, NULL: nobody's.
 * failure: with VM_END_FAILED. Any hart; the first reason given counts.
 */
void vm_end(struct vm *vm, const struct vcpu *by, enum vm_end why, const char *failure,
            uint64_t value);

/* Its vcpu has done what cannot be gone on from. Resident on this hart. */
void vm_failed(struct vcpu *vcpu, const char *failure, uint64_t value);

/* One vcpu of an ending VM is off its hart. That hart. */
void vm_vcpu_gone(struct vcpu *vcpu);

/* Starts the first vcpu, with all images in place. Lead hart, or boot. */
void vm_begin(struct vm *vm, uint64_t now);

/* REQ_LIFE of vcpu 0: a command, or the last vcpu is gone. Lead hart. */
void vm_life_serve(struct vm *vm);

/* One step of what is to be done between two lives, at most some 10,000 instructions. false: there
 * is no more. Lead hart. */
bool vm_life_work(struct vm *vm);

/* The number of VMs that have to end before the machine is switched off. Boot hart. */
void vms_start_counting(uint32_t n);

#endif
