/* SPDX-License-Identifier: Apache-2.0 */
/* The state of one hart. It lies below the hart's stacks, so sp leads to it. */
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
#include "arch/riscv/hart/spinlock.h"
#include "arch/riscv/hart/vs_state.h"
#include "core/hart/wake_times.h"
#include "core/host/vm_config.h"
#include "core/lib/types.h"
#include "core/panic.h"
#include "core/tree/vm_stay.h"

#define MAX_HARTS      VM_MAX_HARTS
#define MAX_HART_VCPUS WAKE_LEAVES

/* Length of a slice, in seconds (a hundred years), on a hart that need not look at its vcpu. It is
 * finite because an emulator whose clock jumps to the next timer needs one that it can reach. */
#define PCPU_NO_LOOK_S (100UL * 365 * 24 * 3600)

struct platform_hart;
struct vcpu;
struct windows;

/* Kinds of work that a hart polls for, see external_poll_at(). */
enum external_kind {
	EXTERNAL_CONSOLE,
	EXTERNAL_DMA,
	EXTERNAL_HEART,
	EXTERNAL_ALARM,
	EXTERNAL_WINDOW,
	EXTERNAL_OBSERVE,
	EXTERNAL_KINDS
};

/* An end of a slice that has passed at any host time: the vcpu yields, or its budget is spent. */
#define SLICE_OVER 0UL

enum { STAY_WORK_DONE = 1, STAY_SWITCH_POSTPONED = 2 };
enum { PCPU_PROBED = 1, PCPU_ONLINE = 2, PCPU_LEFT = 3 };

/* The large members come last, as in struct vcpu. */
struct pcpu {
	/* For arch/riscv/hart/trap.c and switch.S: the trap guard, t0 in a trap, and whether the
	 * hart has begun to log its last lines. They must come first. */
	uint64_t guard[2], trap_t0, panicking;

	/* Private to this hart, except at boot. */
	uint64_t hartid;
	uint32_t index;   /* in hart_stacks[] and in masks of harts (struct vm_harts) */
	uint32_t n_vcpus; /* vcpus with their home here, plus one if the hart has a schedule */
	const struct platform_hart *listed; /* what the host's tree says of it */
	uint64_t isa; /* BIT(enum isa_ext); has only those cache-block extensions that work */
	struct cbo_blocks blocks;
	struct vs_features vs_features;
	uint64_t last;        /* the bit of the vcpu that had the last time slice */
	struct vcpu *current; /* the resident vcpu; NULL: none */
	/* Masks of vcpus[], see core/sched/run_state.h. willing: those that get time slices in
	 * their windows. ready: those of them that are present, so get them now. steal_at_load: the
	 * steal time of those that are still ready begins with the next load. */
	uint64_t ready, willing, steal_at_load;
	/* The vcpus that are not outside their windows; all, if the hart has no schedule. Other
	 * harts read it. */
	uint64_t present;
	/* Vcpus here of VMs that have set an alarm of their RTC; 0 if there is no schedule. */
	uint64_t alarm_vcpus;
	uint64_t turned_at; /* host time of the last turn to other windows; 0: no schedule */
	/* Protects the sources that are off outside windows of this hart, see core/io/wired.c. An
	 * inner lock of any VM's devices. */
	struct spinlock gate;
	struct wake_times *wake; /* when to wake the present vcpus that are blocked, in host time */
	/* Guest files that may interrupt HS when their vcpus are present; one bit for each. */
	uint64_t listened_files;
	uint64_t cycles_per_tick; /* counts of `cycle` per tick of host time */
	uint64_t slice_end;       /* end of the current time slice; host time, or SLICE_OVER */
	/* Extra length of a slice if no other vcpu is ready; host time. */
	uint64_t slice_extra;
	/* The vcpu whose FP and vector registers are in the hart; NULL: none. See
	 * core/vcpu/vcpu_registers.h. */
	struct vcpu *registers_owner;
	uint64_t vec_bytes;   /* size of a vector register in bytes; 0: guests have no V */
	uint32_t vmids;       /* number of VMIDs; 1 if the hart has none */
	uint64_t scratch;     /* for reservation_end() */
	uint32_t guest_files; /* number of them; 0: vcpus of VMs with an AIA cannot be here */
	uint32_t files_taken; /* files 1 to this one belong to vcpus */
	uint32_t file_words;  /* words of 64 identities in each file */
	const char *no_guest_files_reason; /* the reason, if guest_files is 0 */
	const char *unfit_reason;          /* why no guest can run here, or NULL; see pcpu_init() */
	bool no_imsic;                     /* the host's tree names an IMSIC that is not there */
	uint32_t irq_place;                /* in the interrupt controller, or IRQCHIP_NOWHERE */
	uint64_t next_poll;                /* host time of the next external_poll(); ~0: never */
	uint64_t poll_times[EXTERNAL_KINDS]; /* host time for each kind; ~0: never */
	/* Checked by sched_next() at once: `sched_flags` is not 0 if one of them is set. */
	union {
		struct {
			bool trap_loop_suspect; /* the resident vcpu: HS takes its exceptions */
			bool has_schedule;      /* see core/sched/windows.h; constant after boot */
			/* STAY_WORK_DONE: in this stay the hart has done a piece of the operator's
			 * or the IOMMU's work. STAY_SWITCH_POSTPONED: the time slice ended in a
			 * stay that was too long already for a switch. The timer begins the next
			 * stay at once, and the switch precedes all other work in it. */
			uint8_t stay_work;
		};
		uint32_t sched_flags;
	};
	bool unmask_traps; /* hvictl.VTI is set, see core/vcpu/vs_interrupts.h */
	/* Several vcpus have their home here, they do not roam, and there is no schedule. */
	bool time_shared;
	/* More than FP registers to switch: vectors, records (struct vs_features), or ADUE. */
	bool more_registers;
	/* henvcfg.ADUE is switched with a vcpu's registers: see no_adue of struct vm. */
	bool switches_adue;
	bool ad_ignores_gstage; /* VMs with read-only memory cannot be here: see quirk_probe_ad() */
	uint32_t n_observers;   /* of its vcpus; see core/watch/observe.h */
	uint32_t n_chain_observers; /* observers that sample call chains */
	/* instret when the hart last checked for interrupts. A stay that served several vcpus is
	 * accounted in parts; this is the beginning of the first part. */
	uint64_t last_irq_check;
	uint32_t begin_refusals; /* refusals of pcpu_may_begin() in a row */
	/* The vcpu that the current stay in HS is accounted to, and the kind of exit. */
	struct vcpu *stay_vcpu;
	enum vcpu_exit stay_cause;
	struct windows *windows;    /* constant after boot; NULL: the hart has no schedule */
	struct vcpu *notified_vcpu; /* the vcpu of the last notification; NULL: none yet */

	/* In vcpus[]: those with requests to be served here. Other harts set bits and then send an
	 * IPI. */
	atomic_ulong notified;
	/* The same for vcpus outside their windows: this hart is not interrupted, and looks when
	 * they are present again. */
	atomic_ulong parked;
	/* PCPU_*, set by this hart: PROBED when its own probes are done and it waits for those that
	 * it makes together with the boot hart, ONLINE when all are done. */
	atomic_uint boot_state;
	/* At boot: the number of the current turn; this hart and the boot hart alternate, see
	 * hpm_exact_check_hs(). */
	atomic_uint boot_turn;

	/* For each VMID: the vcpu that ran last; a pointer to the pcpu itself if cached
	 * translations must be fenced; NULL if no vcpu has run. */
	const void *last_of_vmid[17];
	/* On a hart with a schedule, that of no vcpu; its others are elsewhere
	 * (core/sched/windows.c).
	 */
	struct wake_times wake_times;
	struct wake_times *window_wakes; /* see vcpu_wake_at(); NULL: no schedule */
	struct hpm hpm;
	struct vcpu *vcpu_of_file[IMSIC_GUEST_FILES + 1]; /* constant after boot */
	struct vcpu *vcpus[MAX_HART_VCPUS]; /* all vcpus of the machine; constant after boot */
	struct vcpu *hctr_owner[32];        /* the vcpu whose count the hctr holds; NULL: none */
	struct fw_events fw_events;
};

union hart_stack {
	struct pcpu pcpu;
	struct hart_stack_top {
		uint8_t bytes[HART_STACK_TOP];
		/* Not 0: the hart has to reschedule, or do other work, before it enters a guest.
		 * switch.S checks it at the end of each fast path. */
		uint64_t pending;
		/* Number of vcpus whose stays are recorded, see core/watch/stays.h. switch.S checks
		 * it if the hart records anything. */
		uint64_t recorded_vcpus;
		/* instret at the beginning of the current stay in HS, plus the instructions of the
		 * firmware since then: see arch/riscv/hart/sbi.h. */
		uint64_t stay_start, unused;
	} top;
};
_Static_assert(sizeof(union hart_stack) == HART_STACK_SIZE, "pcpu leads to its top and back");
_Static_assert(sizeof(struct pcpu) <= HART_STACK_GUARD - TRAP_STACK_ROOM, "the trap stack's place");
_Static_assert(offsetof(struct pcpu, trap_t0) == TRAP_T0 &&
                   offsetof(struct pcpu, panicking) == TRAP_PANICKING,
               "switch.S");
_Static_assert(offsetof(union hart_stack, top.stay_start) == HART_STACK_STAY, "sbi.h");

/* Only the first n_pcpus are stacks; the memory of the others has other uses: main.c. */
extern union hart_stack hart_stacks[MAX_HARTS];
extern uint32_t n_pcpus;

static inline struct pcpu *this_pcpu(void)
{
	uint64_t sp;

	__asm__("mv %0, sp" : "=r"(sp));
	return (struct pcpu *)ALIGN_DOWN(sp, HART_STACK_SIZE);
}

static inline struct hart_stack_top *pcpu_top(struct pcpu *pcpu)
{
	return &((union hart_stack *)pcpu)->top;
}

static inline void pcpu_resched(struct pcpu *pcpu)
{
	pcpu_top(pcpu)->pending = 1;
}

static inline struct pcpu *pcpu_at(uint32_t index)
{
	return &hart_stacks[index].pcpu;
}

/* Returns the hart with this id, or NULL if Tally does not use one. Searches all harts, so it is
 * for the operator's commands. */
struct pcpu *pcpu_of_hart(uint64_t hartid);

/* Makes a hart serve the requests of these vcpus soon. pcpu_notify(): of one vcpu, and outside its
 * windows not before the next. Any hart may call them. */
void pcpu_interrupt(struct pcpu *pcpu, uint64_t vcpus);
void pcpu_notify(struct pcpu *pcpu, uint64_t vcpu);

static inline uint64_t pcpu_present(const struct pcpu *pcpu)
{
	return __atomic_load_n(&pcpu->present, __ATOMIC_RELAXED);
}

/* Clears the IPI. All later reads of the hart are at least as new as the IPI. Does not return if
 * the machine has stopped (core/panic.h). Called on this hart. */
static inline void pcpu_ack_ipi(void)
{
	csr_clear(CSR_SIP, BIT(IRQ_SSI));
	fence_output_then_memory();
	if (__builtin_expect(atomic_load_explicit(&machine_stopped, memory_order_relaxed), 0))
		machine_rest();
}

/* Adds `more` (negative: subtracts) to pcpu's number of vcpus. Called on that hart, or at boot. */
void pcpu_add_vcpus(struct pcpu *pcpu, int32_t more);

/* Whether the current stay is short enough yet to begin another piece of work. If not, the caller
 * leaves the work pending, so that it begins the next stay at once. If instret does not count just
 * HS's instructions, each stay may seem too long: then work always begins (if boot has found that),
 * or after PCPU_PATIENCE refusals in a row. Called on this hart. */
#define PCPU_PATIENCE 16U
bool pcpu_may_begin_late(struct pcpu *pcpu);
static inline bool pcpu_may_begin(struct pcpu *pcpu)
{
	if (csr_read(CSR_INSTRET) - pcpu->last_irq_check >= VM_STAY_SHORT ||
	    pcpu->stay_work == STAY_SWITCH_POSTPONED)
		return pcpu_may_begin_late(pcpu);
	pcpu->begin_refusals = 0;
	return true;
}

/* The calling hart polls `what` at this host time: sources that may not interrupt, guests that have
 * to ring, the next window, or counters that all harts read then. ~0: never. */
void external_poll_at(enum external_kind what, uint64_t time);

/* The same for another hart. Boot hart only, before that hart polls anything. */
void external_poll_init(struct pcpu *pcpu, enum external_kind what, uint64_t time);

/* Returns the interrupts that HS would take now, in the layout of sip plus SGEI, which sip itself
 * does not have. Files that HS does not listen to are left out. Called on this hart. */
static inline uint64_t pcpu_pending_interrupts(const struct pcpu *pcpu)
{
	uint64_t pending = csr_read(CSR_SIP) & csr_read(CSR_SIE);

	if (pcpu->files_taken && csr_read(CSR_HGEIP) & csr_read(CSR_HGEIE))
		pending |= BIT(IRQ_SGEI);
	return pending;
}

#endif
