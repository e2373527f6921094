/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual hart. It runs on one hart, its home, and its state belongs to that hart alone; other
 * harts talk to it through `requests` and `start_*` (core/vm/vcpu_requests.h). It may move to
 * another home (core/vm/vcpu_move.h).
 */
#ifndef CORE_VM_VCPU_H
#define CORE_VM_VCPU_H

#include <stdatomic.h>

#include "arch/riscv/context.h"
#include "arch/riscv/csr.h"
#include "arch/riscv/sbi_spec.h"
#include "arch/riscv/trap.h"
#include "arch/riscv/vs_state.h"
#include "core/vm/long_call.h"
#include "core/vm/observe.h"
#include "core/vm/pcpu.h"
#include "core/vm/requests.h"
#include "core/vm/vcpu_fw.h"
#include "core/vm/vcpu_lcofi.h"
#include "vpmu/vpmu.h"

struct vm;

/* The large parts come last: what lies within 2 KiB of the start takes one instruction to reach. */
struct vcpu {
	struct guest_context ctx; /* first: switch.S holds a pointer to it */

	/* Constant after boot. */
	struct vm *vm;
	uint32_t id;    /* vhartid: index in the VM */
	uint32_t index; /* among all vcpus: in every hart's vcpus[] ... */
	uint64_t bit;   /* ... and masks: BIT(index) */

	/* Written by the home that it leaves; other harts read it with vcpu_home(). */
	struct pcpu *home;
	struct pcpu *goal; /* where it is to move, NULL: it stays. Atomic */

	/* Any hart. */
	struct requests requests;
	atomic_ulong hsm_state;          /* SBI_HSM_STATE_* */
	uint64_t start_pc, start_opaque; /* written by the one that moved hsm_state to pending */

	/* Host time at which its PMU wants to look at a counter, ~0: never. Not when not resident.
	 */
	uint64_t look_at;

	atomic_bool traced; /* its exits are noted; written by the boot hart, as ctx.calls is */

	/* Private to the home hart. */
	bool few_lcofis; /* lcofi.limit is not 0 */
	bool hart_flags; /* it reads the hart's scountovf: the policy says so */
	/* See core/vm/trap_loop.h. */
	bool suspect, lcofi_hidden;
	uint32_t traps_in_row;
	uint32_t carried;      /* on its way: what it wanted of the hart that it left */
	uint64_t timer;        /* without Sstc: host time of the guest's timer, ~0: off */
	uint64_t moves;        /* to another hart, so far */
	struct long_call call; /* that goes on; slice NULL: none */
	struct vcpu_fw fw;
	struct vpmu pmu;
	struct vs_state vs;
	struct vcpu_lcofi lcofi;
	/* Of no meaning while the home hart holds them, see core/vm/vcpu_registers.h. */
	struct vec_image *vec; /* NULL: the VM has no V. The pointer is constant after boot */
	uint64_t fp[33];
	struct vcpu_observers observers;
};

static inline struct vcpu *vcpu_of(struct guest_context *ctx)
{
	return (struct vcpu *)ctx;
}

/* The one whose exit is being served. Home hart, between the exit and the choice of who runs next.
 */
static inline struct vcpu *this_vcpu(void)
{
	return vcpu_of(this_context());
}

/* The sum of ctx.exits or ctx.hs_insns. */
static inline uint64_t all_causes(const uint64_t by_cause[VCPU_EXITS])
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < VCPU_EXITS; i++)
		sum += by_cause[i];
	return sum;
}

/* Its home, for other harts: it may have another one a moment later, and who finds himself owns it.
 */
static inline struct pcpu *vcpu_home(const struct vcpu *vcpu)
{
	return __atomic_load_n(&vcpu->home, __ATOMIC_ACQUIRE);
}

/* Is the vcpu resident on the hart that asks? */
static inline bool vcpu_is_current(const struct vcpu *vcpu)
{
	return this_pcpu()->current == vcpu;
}

/* Makes it resident on / takes it off its home hart, which is this one. */
void vcpu_load(struct pcpu *pcpu, struct vcpu *vcpu);
void vcpu_put(struct pcpu *pcpu, struct vcpu *vcpu);

/* It has a new home. Boot, or the old one, before others can see that. */
static inline void vcpu_goes_to(struct vcpu *vcpu, struct pcpu *home)
{
	vcpu->ctx.hs_sp = (uint64_t)home + HART_STACK_TOP;
	__atomic_store_n(&vcpu->home, home, __ATOMIC_RELEASE);
}

/* Sets or clears a bit of hvip. Home hart only. */
void vcpu_set_virq(struct vcpu *vcpu, uint64_t irq, bool level);

/* Would WFI end at once? Of a vcpu that is not resident; home hart only. */
bool vcpu_has_interrupt(const struct vcpu *vcpu);

/* Requests that may end its WFI. Not resident; home hart only. */
uint64_t vcpu_woken_by(const struct vcpu *vcpu);

/* Host time of the guest's next timer interrupt, ~0: none. Not resident; home hart only. */
uint64_t vcpu_timer_deadline(const struct vcpu *vcpu);

/* Is it running or suspended, so that interrupts and fences concern it? Any hart. */
static inline bool vcpu_is_on(struct vcpu *vcpu)
{
	unsigned long state = atomic_load(&vcpu->hsm_state);

	return state == SBI_HSM_STATE_STARTED || state == SBI_HSM_STATE_SUSPENDED;
}

/* Host time at which an LCOFI that is held back comes, ~0: there is none. Home hart only. */
static inline uint64_t vcpu_lcofi_deadline(const struct vcpu *vcpu)
{
	return vcpu->few_lcofis && vcpu->lcofi.held ? vcpu->lcofi.window_end : ~0UL;
}

/* Makes the hart's timer see to what a vcpu has to be looked at for, while it does not wait. */
static inline void vcpu_set_wake(struct vcpu *vcpu)
{
	uint64_t at = vcpu_lcofi_deadline(vcpu);

	wake_times_set(&vcpu->home->wake, vcpu->index, vcpu->look_at < at ? vcpu->look_at : at);
}

/* Was the guest in VU when it left? Resident, in the exit that is being handled. */
static inline bool vcpu_from_user(void)
{
	return !(csr_read(CSR_SSTATUS) & SSTATUS_SPP);
}

/*
 * The instruction at pc, of this length in bytes, has been or is being executed for the resident
 * guest: pc goes behind it, and it is counted as an instruction of the guest's.
 */
void vcpu_emulated(struct vcpu *vcpu, uint32_t length);

/* May the guest sleep in WFI without an exit? Nobody else needs its hart, and no count suffers. */
bool vcpu_may_sleep(const struct vcpu *vcpu);

/* Makes WFI trap, or not; not only where vcpu_may_sleep(). Resident. The second is for who need not
 * tell the vPMU. */
void vcpu_trap_wfi(struct vcpu *vcpu, bool trap);
void vcpu_set_vtw(struct vcpu *vcpu, bool trap);

/* What the hart has cached of the VM's translations is forgotten before the vcpu's next
 * instruction. Home hart. */
void vcpu_fence_vm(const struct vcpu *vcpu);

/* Power-on state at pc, with a0 and a1. Not resident, home hart or boot. */
void vcpu_reset(struct vcpu *vcpu, uint64_t pc, uint64_t a1);

#endif
