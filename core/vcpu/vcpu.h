/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A virtual hart. It runs on one hart, its home, which alone owns its state. Other harts reach it
 * through `requests` and `start_*` (core/vcpu/requests.h). It may move to another home
 * (core/sched/vcpu_move.h).
 */
#ifndef CORE_VCPU_VCPU_H
#define CORE_VCPU_VCPU_H

#include <stdatomic.h>

#include "arch/riscv/hart/context.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi_spec.h"
#include "arch/riscv/hart/trap.h"
#include "arch/riscv/hart/vs_state.h"
#include "core/hart/pcpu.h"
#include "core/vcpu/long_call.h"
#include "core/vcpu/observers.h"
#include "core/vcpu/requests.h"
#include "core/vcpu/run_state.h"
#include "core/vcpu/vcpu_stats.h"
#include "core/vcpu/vcpu_lcofi.h"
#include "vpmu/vpmu.h"

struct vm;

/*
 * A state of a stopped vcpu between STOPPED and START_PENDING: start_pc and start_opaque are being
 * written. A REQ_START of the VM's former life that is still pending has no effect then.
 */
#define HSM_CLAIMED (~0UL)

/* Members that are large or seldom used come last: one instruction reaches the first 2 KiB of the
 * struct, up to the first counters of pmu. */
struct vcpu {
	struct guest_context ctx; /* comes first: switch.S holds a pointer to it */

	/* Constant after boot. */
	struct vm *vm;
	uint16_t id;          /* vhartid: the index in the VM */
	uint16_t index;       /* index among all vcpus, in each hart's vcpus[] */
	struct run_state run; /* not constant: written by the home hart */
	uint64_t bit;         /* BIT(index), in each hart's masks */
	uint32_t slice;       /* length of its time slices, at most a second; host time */
	uint32_t guest_file;  /* its guest interrupt file, constant; 0: its VM has no AIA */

	/* Written by the vcpu's old home when it moves. Other harts read it with vcpu_home(). */
	struct pcpu *home;
	struct pcpu *migrate_to; /* the new home; NULL: it does not move. Atomic */

	/* Any hart may access these. */
	struct requests requests;
	atomic_ulong hsm_state; /* SBI_HSM_STATE_*, HSM_CLAIMED */

	/* Host time at which the PMU polls a counter, ~0: never. ~0 also while the vcpu is not
	 * resident. */
	uint64_t poll_at;

	/* Whether its exits are recorded. traced: for the operator; written by the boot hart, like
	 * ctx.calls. last_words: for its VM's last words; constant after boot. */
	union {
		struct {
			atomic_bool traced;
			bool last_words;
		};
		uint16_t exits_noted; /* either */
	};

	/* Private to the home hart. */
	bool lcofi_limited; /* lcofi.limit is not 0 */
	bool has_deadlines; /* lcofi_limited, or the vcpu has a budget */
	bool hart_flags;    /* it reads the hart's scountovf, see core/vcpu/hart_flags.h */
	/* flags_due: scountovf may show wrong OF bits now (without flags_hidden: always true).
	 * flags_in_calls: it may do so after a call that starts or stops counters. */
	bool flags_due, flags_in_calls;
	/* See core/vcpu/trap_loop.h. */
	bool trap_loop_suspect;
	/* Host time of the guest's timer, if HS has it: without Sstc, or in vs_aia.c; ~0: off. */
	uint64_t timer;
	struct long_call call; /* the long call in progress; slice NULL: none */
	struct vcpu_stats stats;
	struct vpmu pmu;
	struct vs_state vs;
	struct vcpu_lcofi lcofi;
	bool lcofi_hidden;     /* see core/vcpu/trap_loop.h */
	bool file_used;        /* its guest file must be cleared before the vcpu starts */
	uint32_t traps_in_row; /* see core/vcpu/trap_loop.h */
	uint64_t moves;        /* number of moves to another hart */
	/* Written by the hart that claimed the vcpu (any hart), before START_PENDING. */
	uint64_t start_pc, start_opaque;
	/* Not valid while the registers are in the home hart, see core/vcpu/vcpu_registers.h. */
	struct vec_image *vec; /* NULL: the VM has no V. The pointer is constant */
	uint64_t fp[33];
	struct vcpu_observers observers;
	struct vcpu_budget budget;
	struct vcpu_stays stays;
	hpa_t guest_file_at; /* the page of guest_file; constant after boot */
	uint32_t wake_sets;  /* see vcpu_wake_at(); constant after boot */
	/* For docs/windows.md, written by the home hart: the number of its windows that began
	 * later than promised; the longest delay of a beginning, in ticks; and the number of
	 * windows that its hart missed completely. */
	uint64_t windows_late, windows_latest, windows_missed;
};
_Static_assert(offsetof(struct vcpu, pmu) + VPMU_REACH <= 2048, "pmu begins too late");

static inline struct vcpu *vcpu_of(struct guest_context *ctx)
{
	return (struct vcpu *)ctx;
}

/* Returns the vcpu whose exit is being handled. Home hart only, from the exit until the scheduler
 * chooses the next vcpu. */
static inline struct vcpu *this_vcpu(void)
{
	return vcpu_of(this_context());
}

static inline uint64_t vcpu_sum(const uint64_t *counts, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += counts[i];
	return sum;
}

/* Returns the number of instructions in HS for it. */
static inline uint64_t vcpu_hs_insns(const struct vcpu *vcpu)
{
	return vcpu_sum(vcpu->ctx.hs_insns, VCPU_KINDS);
}

/* Returns the length of its longest stay, in instructions. Any hart may call it. */
static inline uint64_t vcpu_longest_stay(const struct vcpu *vcpu)
{
	uint64_t noted = vcpu->stays.longest, other = vcpu->ctx.hs_longest;

	return noted > other ? noted : other;
}

/* Returns the vcpu's home, for other harts. It may change at any time. But if the result is the
 * calling hart, that hart owns the vcpu. */
static inline struct pcpu *vcpu_home(const struct vcpu *vcpu)
{
	return __atomic_load_n(&vcpu->home, __ATOMIC_ACQUIRE);
}

/* Whether the vcpu is resident on the calling hart. */
static inline bool vcpu_is_current(const struct vcpu *vcpu)
{
	return this_pcpu()->current == vcpu;
}

/* Sets a new home. Called at boot, or by the old home before other harts can see the change
 * (docs/memory-order.md, "Move"). */
static inline void vcpu_set_home(struct vcpu *vcpu, struct pcpu *home)
{
	vcpu->ctx.hs_sp = (uint64_t)home + HART_STACK_TOP;
	__atomic_store_n(&vcpu->home, home, __ATOMIC_RELEASE);
}

/* Sets or clears a bit of hvip. Home hart only. */
void vcpu_set_virq(struct vcpu *vcpu, uint64_t irq, bool level);

/* Whether WFI would end at once. The vcpu is not resident. Home hart only. */
bool vcpu_has_interrupt(const struct vcpu *vcpu);

/* Returns the requests that end its WFI. The vcpu is not resident. Home hart only. */
uint64_t vcpu_wake_requests(const struct vcpu *vcpu);

/* Returns the host time of the guest's next timer interrupt; ~0: none. The vcpu is not resident.
 * Home hart only, but for vm_is_asleep(). */
uint64_t vcpu_timer_deadline(const struct vcpu *vcpu);

/* Whether it is started or suspended, so that it gets interrupts and fences. Any hart may call
 * it. */
static inline bool vcpu_is_on(struct vcpu *vcpu)
{
	unsigned long state = atomic_load(&vcpu->hsm_state);

	return state == SBI_HSM_STATE_STARTED || state == SBI_HSM_STATE_SUSPENDED;
}

/* Returns the host time at which a held LCOFI is raised, or the period of a budget ends; ~0:
 * neither. Home hart only. */
uint64_t vcpu_next_deadline(const struct vcpu *vcpu);
static inline uint64_t vcpu_deadline(const struct vcpu *vcpu)
{
	return __builtin_expect(vcpu->has_deadlines, 0) ? vcpu_next_deadline(vcpu) : ~0UL;
}

/* Sets the host time at which the vcpu is woken; ~0: never. On a hart with a schedule, each window
 * with other vcpus has its own times, so a turn to a window changes none of them; wake_sets says
 * which of home->window_wakes[] the vcpu is in. Home hart only. */
void vcpu_wake_in_windows(const struct vcpu *vcpu, uint64_t at);
static inline void vcpu_wake_at(const struct vcpu *vcpu, uint64_t at)
{
	if (__builtin_expect(vcpu->home->has_schedule, 0))
		vcpu_wake_in_windows(vcpu, at);
	else
		wake_times_set(vcpu->home->wake, vcpu->index, at);
}

/* Sets the wake time of a vcpu that is not blocked to its next deadline or poll. */
static inline void vcpu_set_wake(struct vcpu *vcpu)
{
	uint64_t at = vcpu_deadline(vcpu);

	vcpu_wake_at(vcpu, vcpu->poll_at < at ? vcpu->poll_at : at);
}

/* Whether the guest was in VU-mode at the exit that is being handled. The vcpu is resident. */
static inline bool vcpu_from_user(void)
{
	return !(csr_read(CSR_SSTATUS) & SSTATUS_SPP);
}

/*
 * Advances the resident guest's pc by `length` bytes, past an emulated instruction, and counts that
 * as retired. May be called before the emulation is complete.
 */
void vcpu_emulated(struct vcpu *vcpu, uint32_t length);

/* Whether the guest may execute WFI without an exit: no other vcpu needs the hart, and no count
 * becomes wrong. */
bool vcpu_may_sleep(const struct vcpu *vcpu);

/* Make WFI trap or not. trap may be true even if vcpu_may_sleep(). The vcpu is resident.
 * vcpu_set_vtw() does not notify the vPMU. */
void vcpu_trap_wfi(struct vcpu *vcpu, bool trap);
void vcpu_set_vtw(struct vcpu *vcpu, bool trap);

/* Fences the VM's cached translations on this hart before the vcpu's next instruction. Home hart
 * only. */
void vcpu_fence_vm(const struct vcpu *vcpu);

/* Sets the state after power-on, with these values of pc and a1; a0 is the vhartid. The vcpu is not
 * resident. Home hart only, or at boot. */
void vcpu_reset(struct vcpu *vcpu, uint64_t pc, uint64_t a1);

#endif
