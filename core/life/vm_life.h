/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the end of a VM to its next life. Boot begins at CLEARING:
 *
 *              vm_end()          all vcpus off,      cleared,
 *     RUNNING ----------> ENDING ------> CLEARING ----------------> OFF
 *        ^                        logged   ^   | cleared, again      |
 *        |                     vm_stop()   |   v                     | vm_start()
 *        +------------------------------ LOADING <-------------------+
 *                                 loaded
 *
 * Any hart may change RUNNING to ENDING. All other steps happen on the lead hart, which is the home
 * of vcpu 0, in time slices of vcpu 0. So other vcpus of that hart keep their share.
 */
#ifndef CORE_LIFE_VM_LIFE_H
#define CORE_LIFE_VM_LIFE_H

#include "arch/riscv/hart/vs_state.h"
#include "core/lib/types.h"

struct vm;
struct vcpu;
struct vm_device;

enum vm_state {
	VM_CLEARING, /* devices are brought to rest, and memory is being cleared; the first */
	VM_LOADING,  /* images are being copied */
	VM_RUNNING,
	VM_ENDING, /* vcpus leave their harts, and the end is logged */
	VM_OFF,    /* nothing of the last life is left except vm->crash */
};

/* Why a life ends. */
enum vm_end {
	VM_END_SHUTDOWN,
	VM_END_ALL_STOPPED, /* the last vcpu stopped itself (HSM) */
	VM_END_REBOOT,
	VM_END_FAILED,
	VM_END_STOP, /* a command of the user */
	VM_END_RESTART,
	VM_END_POWER_OFF, /* a command of the user; the VM does not keep the machine on */
};

/* The vcpu that made its VM fail, at the VM's last failure. */
struct vm_crash {
	const char *failure; /* one phrase; NULL: the VM has not failed yet */
	uint64_t value;      /* the value that explains it */
	const char *unit;    /* of it; NULL: it is an address or the like, in hexadecimal */
	uint64_t at;         /* host time */
	uint64_t age;        /* how long the VM had run; host time */
	uint64_t life;       /* life.number of the life that ended so */
	uint32_t vcpu;
	uint64_t x[32];
	struct vs_state vs;
};

/* Private to the lead hart. */
struct vm_life {
	bool again;        /* another life follows this one */
	bool too_often;    /* the limit of restarts is reached */
	bool off_for_good; /* it does not keep the machine on */
	uint32_t rests;    /* how often it has told what is left to tell of its devices */
	uint32_t restarts; /* in a row; a minute of running or a command ends the row */
	uint64_t begun;    /* host time of the last start */
	uint64_t number;   /* of starts */
	uint64_t loaded;   /* number of lives loaded completely; each one has its seed */
	uint32_t step;     /* the line to log, the image to load, or the piece to clear */
	uint64_t done;     /* bytes of that done */
	/* See core/io/vm_quiet.h: the device to reset, whether none is translated any
	 * more, and whether no interrupt of the devices is left; a device that did not come to
	 * rest, NULL: none. */
	uint32_t device;
	bool detached;
	bool drained;
	bool waiting; /* the last step was in vain, since `since` */
	uint64_t since;
	const struct vm_device *restless;
	bool unquiet; /* an interrupt or the IOMMU has no end, whichever device it is for */
};

const char *vm_state_name(const struct vm *vm);

/*
 * Ends a life: all vcpus are stopped, on whatever hart. `by` is the vcpu that caused it, NULL:
 * none. `failure` and `value` are for VM_END_FAILED. Any hart may call it; the first call counts.
 */
void vm_end(struct vm *vm, const struct vcpu *by, enum vm_end why, const char *failure,
            uint64_t value);

/* Ends a VM whose guest did not ring in time (core/life/heart.h). Lead hart only. */
void vm_silent(struct vm *vm);

/* Ends the VM of a vcpu that cannot continue. The vcpu is resident on this hart. */
void vm_failed(struct vcpu *vcpu, const char *failure, uint64_t value);

/* A vcpu of an ending VM has left its hart. Called on that hart. */
void vm_vcpu_gone(struct vcpu *vcpu);

/* Starts vcpu 0; all images are in place. Lead hart only. */
void vm_begin(struct vm *vm, uint64_t now);

/* Makes the lead hart prepare the first life, which begins at once unless the VM is deferred. A VM
 * whose devices do not come to rest stays off, and has failed. Boot hart only. */
void vm_prepare(struct vm *vm, uint64_t now);

/* Serves REQ_LIFE of vcpu 0: a command, or the last vcpu has left its hart. Lead hart only. */
void vm_life_serve(struct vm *vm);

/* Does one step between two lives, of at most some 10,000 instructions. Returns false if there is
 * nothing left to do. Lead hart only. */
bool vm_life_work(struct vm *vm);

/* Sets the number of VMs whose end switches the machine off. Boot hart only. */
void vms_start_counting(uint32_t n);

#endif
