/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one hart. It lies at the foot of the hart's stack, so sp leads to it. */
#ifndef CORE_VM_PCPU_H
#define CORE_VM_PCPU_H

#include <stdatomic.h>

#include "arch/riscv/cbo.h"
#include "arch/riscv/context.h"
#include "arch/riscv/csr.h"
#include "arch/riscv/fence.h"
#include "arch/riscv/fw_events.h"
#include "arch/riscv/hpm.h"
#include "arch/riscv/vs_state.h"
#include "core/lib/types.h"
#include "core/vm/wake_times.h"

#define MAX_HARTS      8U
#define MAX_HART_VCPUS WAKE_LEAVES
#define PCPU_SLICE_MS  2U

struct vcpu;

/* The large parts come last, as in struct vcpu. */
struct pcpu {
	/* Used by arch/riscv/trap.c and switch.S; must come first. */
	uint64_t guard[2];

	/* Private to this hart, except at boot. */
	uint64_t hartid;
	uint32_t index;
	uint32_t n_vcpus; /* whose home it is */
	uint64_t isa;     /* BIT(enum isa_ext); of the cache-block operations those that work */
	struct cbo_blocks blocks;
	struct vs_has vs_has;
	uint64_t last;             /* of vcpus[]: was resident before */
	struct vcpu *current;      /* resident; NULL: none */
	uint64_t ready;            /* of vcpus[]: wants to run */
	uint64_t waiting;          /* of vcpus[]: in WFI until an interrupt */
	uint64_t working;          /* of ready: its VM's next life is being prepared */
	uint64_t called;           /* of ready: only for what is asked of it */
	uint64_t unrobbed;         /* of ready: no steal time has begun, see sched.c */
	uint64_t counts_a_tick;    /* of host time, at most */
	uint64_t slice, slice_end; /* how long a turn is, when this one ends; host time */
	uint64_t alone;            /* so much later one ends whose vcpu nobody else waits for */
	/* Whose FP and vector registers it holds, NULL: nobody's. See core/vm/vcpu_registers.h */
	struct vcpu *registers_of;
	uint64_t vec_bytes; /* in a vector register; 0: guests have none */
	uint32_t vmids;     /* that it tells apart, 1: none */
	uint64_t scratch;   /* for reservation_end() */
	/* Serves external interrupts of this hart, and is called when the host time has come to
	 * external_at, ~0: never. NULL: nobody has registered, see pcpu_serve_external(). */
	void (*external)(void);
	uint64_t external_at;
	bool suspect;        /* exceptions of the guest come to HS */
	bool unmask_traps;   /* hvictl.VTI: see core/vm/vs_interrupts.h */
	bool shared;         /* it is the home of several vcpus, and they do not roam */
	bool more_registers; /* than the FP ones: vectors, or records (struct vs_has) */
	uint32_t observers;  /* of its vcpus: see core/vm/observe.h */
	/* The stay in HS that is going on: instret when it began, on whose behalf, after what exit.
	 */
	uint64_t stay_start;
	struct vcpu *stay_of;
	enum vcpu_exit stay_why;
	struct vcpu *told; /* whom the last mail was for; NULL: there was none */

	/* Of vcpus[]: they have requests. Other harts set bits, then send an IPI. */
	atomic_ulong mail;
	/* Set by this hart when its probes are done. */
	atomic_uint online;

	/* By VMID: the vcpu that ran last, the pcpu itself: what is cached has to go, NULL: nobody
	 * yet. */
	const void *last_of_vmid[17];
	struct wake_times wake; /* of those waiting, in host time */
	struct hpm hpm;
	struct vcpu *vcpus[MAX_HART_VCPUS]; /* all of the machine, fixed at boot */
	struct vcpu *hctr_owner[32]; /* whose counts each hardware counter holds, NULL: nobody's */
	struct fw_events fw_events;
};

union hart_stack {
	struct pcpu pcpu;
	struct {
		uint8_t bytes[HART_STACK_TOP];
		/* Not 0: there is more to do before the guest goes on, choose again who that is.
		 * switch.S looks at it on the way out of each SBI call. */
		uint64_t pending, unused;
	} top;
};
_Static_assert(sizeof(union hart_stack) == HART_STACK_SIZE, "pcpu leads to its top and back");

extern union hart_stack hart_stacks[MAX_HARTS];
extern uint32_t n_pcpus;

static inline struct pcpu *this_pcpu(void)
{
	uint64_t sp;

	__asm__("mv %0, sp" : "=r"(sp));
	return (struct pcpu *)ALIGN_DOWN(sp, HART_STACK_SIZE);
}

static inline uint64_t *pcpu_pending(struct pcpu *pcpu)
{
	return &((union hart_stack *)pcpu)->top.pending;
}

static inline void pcpu_resched(struct pcpu *pcpu)
{
	*pcpu_pending(pcpu) = 1;
}

/* The hart with this id, NULL if there is none or it is not used. */
struct pcpu *pcpu_of_hart(uint64_t hartid);

/* Makes a hart look at the requests of these of its vcpus before long. Any hart. */
void pcpu_notify(struct pcpu *pcpu, uint64_t vcpus);

/* The hart has been told of mail. What it reads of it from here on is newer than that. This hart.
 */
static inline void pcpu_heard(void)
{
	csr_clear(CSR_SIP, BIT(IRQ_SSI));
	fence_output_then_memory();
}

/* So many vcpus more, or less, have their home there. This hart, or at boot. */
void pcpu_count_vcpus(struct pcpu *pcpu, int32_t more);

/* Ends the stay in HS that is going on, for the books. This hart. */
void pcpu_account_stay(struct pcpu *pcpu);

/* From here on it is another vcpu's. This hart, its home. */
void pcpu_book(struct pcpu *pcpu, struct vcpu *vcpu, enum vcpu_exit why);

/* Serves interrupts of HS, given as in sip. This hart. */
void pcpu_interrupts(struct pcpu *pcpu, uint64_t pending);

/* From here on this hart takes external interrupts, and calls serve() for them. serve() may set
 * external_at. Once, at boot. */
void pcpu_serve_external(void (*serve)(void));

/* Sets up the calling hart: CSRs, counters, interrupts. Its pcpu is zeroed but for `blocks`; isa
 * and these are what the host tree says. */
void pcpu_init(uint64_t hartid, uint32_t index, uint64_t isa);

#endif
