/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one hart. It is below the hart's stacks, so sp leads to it. */
#ifndef CORE_HART_PCPU_H
#define CORE_HART_PCPU_H

#include <stdatomic.h>

#include "arch/riscv/counters/fw_events.h"
#include "arch/riscv/counters/hpm.h"
#include "arch/riscv/devices/imsic.h"
#include "arch/riscv/hart/cbo.h"
#include "arch/riscv/hart/context.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/vs_state.h"
#include "core/hart/wake_times.h"
#include "core/host/vm_config.h"
#include "core/lib/types.h"
#include "core/panic.h"
#include "core/tree/vm_stay.h"

#define MAX_HARTS      VM_MAX_HARTS
#define MAX_HART_VCPUS WAKE_LEAVES

/* Of a hart whose vcpu is not looked at: how long a slice lasts in seconds, a hundred years. There
 * is an end because an emulator whose clock jumps to the next timer needs one that it can reach. */
#define PCPU_NO_LOOK_S (100UL * 365 * 24 * 3600)

struct vcpu;
struct windows;

/* What a hart looks at when it is time, see external_look_at(). */
enum external_what {
	EXTERNAL_CONSOLE,
	EXTERNAL_DMA,
	EXTERNAL_HEART,
	EXTERNAL_WINDOW,
	EXTERNAL_KINDS
};

enum { WORKED = 1, PUT_OFF = 2 };
enum { PCPU_PROBED = 1, PCPU_ONLINE = 2, PCPU_LEFT = 3 };

/* The large members come last, as in struct vcpu. */
struct pcpu {
	/* Of arch/riscv/hart/trap.c and switch.S: the trap guard, t0 in a trap, and whether the
	 * hart has said its last words. They must come first. */
	uint64_t guard[2], trap_t0, ended;

	/* Private to this hart, except at boot. */
	uint64_t hartid;
	uint32_t index;   /* of hart_stacks[], and in masks of harts (struct vm_harts) */
	uint32_t n_vcpus; /* vcpus whose home it is, and one more with a schedule */
	uint64_t isa;     /* BIT(enum isa_ext); has only those cache-block extensions that work */
	struct cbo_blocks blocks;
	struct vs_has vs_has;
	uint64_t last;        /* of vcpus[]: the one that was resident last */
	struct vcpu *current; /* the resident vcpu; NULL: none */
	uint64_t ready;       /* of vcpus[]: runnable */
	uint64_t waiting;     /* of vcpus[]: blocked in WFI */
	uint64_t working;     /* of ready: its time slices prepare its VM's next life */
	uint64_t asks;   /* of vcpus[]: to be asked before they run: working, or with a budget */
	uint64_t called; /* of ready: only to serve its requests */
	uint64_t steal_not_begun; /* of ready: its steal time has not begun, see sched_parts.h */
	uint64_t counts_a_tick;   /* counts of `cycle` per tick of host time */
	uint64_t slice_end;       /* end of the current time slice; host time */
	/* How much longer a slice lasts if no other vcpu is ready; host time. */
	uint64_t alone;
	/* The vcpu whose FP and vector registers are in the hart; NULL: none. See
	 * core/vcpu/vcpu_registers.h. */
	struct vcpu *registers_of;
	uint64_t vec_bytes;         /* size of a vector register in bytes; 0: guests have no V */
	uint32_t vmids;             /* number of VMIDs, 1 if there are none */
	uint64_t scratch;           /* for reservation_end() */
	uint32_t guest_files;       /* 0: vcpus of VMs with an AIA cannot be here */
	uint32_t files_taken;       /* files 1 to this one belong to vcpus */
	uint32_t file_words;        /* of 64 identities, that each has */
	const char *no_guest_files; /* why there are none */
	const char *unfit;          /* see pcpu_init() */
	bool no_imsic;              /* the host's tree names one that it has not got */
	uint32_t irq_place;         /* its place in the interrupt controller, or IRQCHIP_NOWHERE */
	uint64_t external_at;       /* host time of the next external_look(); ~0: never */
	uint64_t looks[EXTERNAL_KINDS]; /* the same of each thing that it looks at */
	/* What sched_next() has to ask in one go: `special` is not 0 if one of them is set. */
	union {
		struct {
			bool suspect; /* the resident vcpu is a suspect: HS takes its exceptions */
			bool scheduled; /* see core/sched/windows.h; constant after boot */
			/* WORKED: in this stay it has done a piece of the operator's work or the
			 * IOMMU's. PUT_OFF: the resident vcpu's time was over in the last stay,
			 * which had become too long for a switch. The timer has begun this one at
			 * once, and nothing comes before the switch. */
			uint8_t worked;
		};
		uint32_t special;
	};
	bool unmask_traps; /* hvictl.VTI is set, see core/vcpu/vs_interrupts.h */
	/* Several vcpus have their home here, they do not roam, and there is no schedule. */
	bool shared;
	/* There are more than the FP registers: vectors, records (struct vs_has), or the next. */
	bool more_registers;
	/* henvcfg.ADUE is part of a vcpu's registers: struct vm's no_adue. */
	bool switches_adue;
	bool ad_ungated;    /* no VM with memory that it may only read can be here: see
	                       quirk_probe_ad() */
	uint32_t observers; /* of its vcpus, see core/watch/observe.h */
	uint32_t chains;    /* those of them that sample with callers */
	uint32_t stays;     /* of its vcpus: their stays are noted, see core/watch/stays.h */
	/* The current stay in HS: instret at its beginning, the vcpu that it is accounted to, and
	 * the kind of exit. */
	uint64_t stay_start;
	/* instret when it looked for interrupts last. A stay is accounted in parts if it was for
	 * several vcpus; this is the beginning of all of it. */
	uint64_t looked;
	uint32_t refused; /* how often in a row pcpu_may_begin() has said no */
	struct vcpu *stay_of;
	enum vcpu_exit stay_why;
	struct windows *windows; /* constant after boot; NULL: the hart has no schedule */
	struct vcpu *told;       /* the vcpu that the last notification was for; NULL: none yet */

	/* Of vcpus[]: those that have requests to be served here. Other harts set bits and then
	 * send an IPI. */
	atomic_ulong notified;
	/* PCPU_*: this hart sets it when its own probes are done and it waits for those that it
	 * makes together with the boot hart, and when all are done. */
	atomic_uint online;
	/* At boot: whose turn it is, its own or the boot hart's (hpm_exact.h). The boot hart sets
	 * the other before the first turn. */
	atomic_uint turn;

	/* For each VMID: the vcpu that ran last. A pointer to the pcpu itself: cached translations
	 * must be fenced. NULL: no vcpu has run. */
	const void *last_of_vmid[17];
	struct wake_times wake; /* when to wake the blocked vcpus, in host time */
	struct hpm hpm;
	struct vcpu *vcpu_of_file[IMSIC_GUEST_FILES + 1]; /* constant after boot */
	struct vcpu *vcpus[MAX_HART_VCPUS]; /* all vcpus of the machine; constant after boot */
	struct vcpu *hctr_owner[32];        /* the vcpu whose count each hctr holds; NULL: none */
	struct fw_events fw_events;
};

union hart_stack {
	struct pcpu pcpu;
	struct {
		uint8_t bytes[HART_STACK_TOP];
		/* Not 0: the hart has to reschedule, or do other work, before it enters a guest.
		 * switch.S checks it when it returns from an SBI call. */
		uint64_t pending;
		struct noted_exit *exit; /* for switch.S; constant after boot */
	} top;
};
_Static_assert(sizeof(union hart_stack) == HART_STACK_SIZE, "pcpu leads to its top and back");
_Static_assert(sizeof(struct pcpu) <= HART_STACK_GUARD - TRAP_STACK_ROOM, "the trap stack's place");
_Static_assert(offsetof(struct pcpu, trap_t0) == TRAP_T0 &&
                   offsetof(struct pcpu, ended) == TRAP_ENDED,
               "switch.S");

/* Memory behind those of the machine's harts has other uses: main.c. */
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

/* Returns the hart with this index. */
static inline struct pcpu *pcpu_at(uint32_t index)
{
	return &hart_stacks[index].pcpu;
}

/* Returns the hart with this id, or NULL if Tally does not use one with this id. It looks at all
 * harts: for the operator's words. */
struct pcpu *pcpu_of_hart(uint64_t hartid);

/* Makes a hart serve the requests of these vcpus soon. Any hart may call it. */
void pcpu_notify(struct pcpu *pcpu, uint64_t vcpus);

/* Clears the IPI. Everything that the hart reads afterwards is at least as new as the IPI. Does not
 * return if the machine has stopped (core/panic.h). Called on this hart. */
static inline void pcpu_ack_ipi(void)
{
	csr_clear(CSR_SIP, BIT(IRQ_SSI));
	fence_output_then_memory();
	if (__builtin_expect(atomic_load_explicit(&machine_stopped, memory_order_relaxed), 0))
		machine_rest();
}

/* `more` vcpus (negative: fewer) have their home on pcpu. Called on that hart, or at boot. */
void pcpu_count_vcpus(struct pcpu *pcpu, int32_t more);

/* Whether a piece of work may begin in the current stay. Two pieces would be too long a stay: what
 * makes the second one necessary is left pending, so it begins the next stay at once. That stay is
 * young, unless instret counts something else than what HS executes: then work always begins if
 * boot has found that, else after PCPU_PATIENCE refusals in a row. Called on this hart. */
#define PCPU_PATIENCE 16U
bool pcpu_begins_late(struct pcpu *pcpu);
static inline bool pcpu_may_begin(struct pcpu *pcpu)
{
	if (csr_read(CSR_INSTRET) - pcpu->looked >= VM_STAY_YOUNG || pcpu->worked == PUT_OFF)
		return pcpu_begins_late(pcpu);
	pcpu->refused = 0;
	return true;
}

/* Returns what would interrupt HS now, in the layout of sip, which does not have SGEI itself. Of a
 * file that nobody listens to there is none. Called on this hart. */
static inline uint64_t pcpu_pending_interrupts(const struct pcpu *pcpu)
{
	uint64_t pending = csr_read(CSR_SIP) & csr_read(CSR_SIE);

	if (pcpu->files_taken && csr_read(CSR_HGEIP) & csr_read(CSR_HGEIE))
		pending |= BIT(IRQ_SGEI);
	return pending;
}

#endif
