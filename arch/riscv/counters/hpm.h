/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware counters of one hart. All functions are called on that hart, in HS-mode. A counter
 * started here never counts M-mode or U-mode. It counts VS-mode, VU-mode and HS-mode as its
 * struct hw_event says (`inhibit`). A counter that counts HS-mode counts during these calls, too.
 */
#ifndef ARCH_RISCV_COUNTERS_HPM_H
#define ARCH_RISCV_COUNTERS_HPM_H

#include "core/lib/types.h"
#include "vpmu/hw_event.h"
#include "vpmu/selector.h"

#define HPM_MAX_EVENTS 16U
/* An event that the hart can count. */
struct hpm_event {
	uint32_t event_idx;
	/* Counters that may count it; exactly one if it has a home; 0: only the fixed one. */
	uint64_t hctrs;
	uint64_t selector; /* written to mhpmevent by the firmware; only with hpm.ssccfg */
	bool raw;          /* the firmware also accepts the selector as a raw event */
	const char *fault; /* why guests cannot use it, see hpm_selfcheck.h; NULL: they can */
};

/* The contents of a counter. */
struct hpm_slot {
	struct hw_event config; /* event_idx 0: no event that can be requested */
	bool programmed;        /* it has contents, and must be reset before other ones */
	union {
		uint64_t selector; /* ssccfg back end: its mhpmevent without OF */
		uint64_t value;    /* sbi back end: the start value, if the counter is fresh */
	};
} __attribute__((aligned(32))); /* indexed by a shift */

/* A difference between the hart and the event table. See hpm_table.h. */
struct hpm_contradiction {
	enum {
		HPM_AGREES,     /* no difference */
		HPM_NO_COUNTER, /* the hart has no counter `hctr` */
		HPM_REFUSES,    /* the firmware refuses the event on `hctr` */
		HPM_KEEPS,      /* the firmware gives `hctr` the selector `kept` for the event */
	} kind;
	uint32_t hctr;
	uint32_t event_idx; /* 0: the raw event `selector` */
	uint64_t selector;  /* in the table */
	uint64_t kept;
};

/* A wrong difference of the lengths of two sequences, in instructions. See hpm_exact.h. */
struct hpm_inexact {
	const char *where; /* follows "on hart 0 " or the like; NULL: no wrong count */
	uint64_t known;
	uint64_t counted;
};

struct hpm {
	uint64_t hctrs;      /* counters 3..31 that have filters */
	uint64_t unreadable; /* like hctrs, and counter 0: HS cannot read them (mcounteren) */
	uint64_t fixed; /* those of counters 0 and 2 that have filters and that guests may take */
	uint64_t fixed_only;  /* those in `fixed` whose event the firmware counts on no other */
	bool instret_differs; /* from other counters of instructions: it is not in `fixed` */
	uint32_t width;       /* of each counter, in bits */
	uint32_t n_events;
	bool hs_lcofi;   /* HS has overflow interrupts, also while a guest runs */
	bool lcofi;      /* guests have them, too; only if hs_lcofi */
	bool hart_flags; /* guests read the hart's own scountovf, see hpm_flags.c */
	/* Behaviour of OF if reads of scountovf do not trap; all probed at boot
	 * (hpm_flag_trials.c). */
	bool flags_hidden; /* VS reads 0 for a counter closed in hcounteren, OF for an open one */
	bool start_sets_flag; /* a start while an LCOFI is pending sets OF; false: it keeps OF */
	bool far_loses;       /* a start far from the wrap with OF = 0 loses the next overflow */
	bool ssccfg;          /* menvcfg.CDE is set: a guest's read of scountovf traps */
	bool
	    delegated; /* counters are driven without the firmware: the ssccfg back end, else sbi */
	const char *undelegated; /* with ssccfg: why they are not delegated; NULL: they can be */
	const char *no_overflow; /* why the hart has no LCOFI although it should have it, or NULL */
	uint64_t may_arm;        /* counters that hold an event with which they may be armed */
	uint64_t armed; /* counters last set with OF = 0: only their flags mean an overflow */
	/* With hart_flags and far_loses: counters last started far from the wrap with OF = 0. */
	uint64_t far;
	/* With hart_flags: the OF bits that the guest must see. A counter that is set or run
	 * without being armed gets this OF. */
	uint64_t shown;
	uint64_t dirty;     /* sbi back end: set, with values that run() has not written yet */
	uint64_t failed;    /* sbi back end: see hpm_take_failures() */
	uint64_t unstarted; /* of these, those of which a set or a run was refused */
	struct hpm_slot slots[32];
	struct hpm_event events[HPM_MAX_EVENTS];

	/* The VM tree's events of this core (its node /pmu). NULL: only the firmware decides. */
	const struct selectors *table;
	bool table_raw;      /* the firmware accepts the raw events of the table */
	uint64_t minh_hctrs; /* delegated: counters whose MINH the firmware has set */
	struct hpm_contradiction contradiction; /* the first that was found */
	struct hpm_inexact inexact;             /* the first that was found */
};

/* HPM_AUTO and HPM_SSCCFG: use the ssccfg back end if the hart has it, otherwise the sbi one. */
enum hpm_choice { HPM_AUTO, HPM_SBI, HPM_SSCCFG };

/* Finds counters and events, compares them with the table (NULL: no table), clears old OF bits,
 * chooses the back end, and checks the basis of all counts (hpm_selfcheck.h). `patience` is the
 * maximum time until an overflow is reported, in ticks of host time. At boot. */
void hpm_init(struct hpm *hpm, bool sscofpmf, enum hpm_choice choice, uint64_t patience,
              const struct selectors *table);

/* Returns the counters that may count an event on this hart; 0: none. For a raw event, all counters
 * that are not running may lose their contents, see hpm_raw.h. */
uint64_t hpm_event_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data,
                         uint64_t running);

/* Returns the fixed counter of cycles or instructions. */
static inline uint32_t hpm_fixed_of(uint32_t event_idx)
{
	return event_idx == SBI_PMU_HW_CPU_CYCLES ? HCTR_CYCLE : HCTR_INSTRET;
}

/* Returns the event of a fixed counter. */
static inline uint32_t hpm_event_of(uint32_t hctr)
{
	return hctr == HCTR_CYCLE ? SBI_PMU_HW_CPU_CYCLES : SBI_PMU_HW_INSTRUCTIONS;
}

/* Finds the fixed counters that have filters. One that is the only counter for its event becomes
 * the event's home. At boot. */
void hpm_fixed_probe(struct hpm *hpm);

/* Returns the event_idx of a raw event for this firmware: of type v2 if the firmware supports it,
 * otherwise of v1 if the value fits into 48 bits, otherwise HPM_NO_RAW (SBI 3.0 sections 11.3 and
 * 11.4). Other events are not changed. */
#define HPM_NO_RAW UINT32_MAX
uint32_t hpm_firmware_event(uint32_t event_idx, uint64_t event_data);
const struct hpm_event *hpm_event_find(const struct hpm *hpm, uint32_t event_idx);

/* Whether the counter is programmed for this event and filter. */
static inline bool hpm_holds(const struct hpm *hpm, uint32_t hctr, const struct hw_event *config)
{
	const struct hpm_slot *slot = &hpm->slots[hctr];

	return slot->programmed && hw_event_equal(&slot->config, config);
}

static inline uint64_t hpm_take_failures(struct hpm *hpm)
{
	uint64_t failed = hpm->failed;

	hpm->failed = 0;
	hpm->unstarted = 0;
	return failed;
}

/* Reads cycle, instret or hpmcounterN, running or stopped. Clobbers only the declared registers, so
 * that callers need not save all that a call may clobber. */
#ifdef __riscv
static inline uint64_t hpm_read(uint32_t hctr)
{
	register uint64_t a0 __asm__("a0") = hctr;

	__asm__ volatile("jal	t1, hpm_read_a0" : "+r"(a0)::"t0", "t1");
	return a0;
}
#else
uint64_t hpm_read(uint32_t hctr);
#endif

/* Clears the pending LCOFI. Returns the counters, running or not, that were last set armed and
 * whose OF is set. */
uint64_t hpm_take_overflow(const struct hpm *hpm);

/*
 * From now on the only vcpu of this hart reads the hart's scountovf. Clears all OF bits. May be
 * called repeatedly, while no counter runs.
 */
void hpm_show_flags(struct hpm *hpm);

/* With hart_flags: sets OF of the counters `hctrs` as in `flags`, and keeps their values. `running`
 * are those that run. None of them has a pending LCOFI. */
void hpm_set_flags(struct hpm *hpm, uint64_t hctrs, uint64_t flags, uint64_t running);

#endif
