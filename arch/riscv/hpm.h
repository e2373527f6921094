/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hardware counters of one hart. Owned by that hart; every call is made there, in HS-mode.
 * Counters started here never count M or U: only VS and VU, as `inhibit` says, and HS if it says
 * so. A counter of HS moves during these calls.
 */
#ifndef ARCH_HPM_H
#define ARCH_HPM_H

#include "core/lib/types.h"
#include "vpmu/hw_event.h"

#define HPM_MAX_EVENTS 16U
/* An event that the hart can count. */
struct hpm_event {
	uint32_t event_idx;
	uint64_t hctrs;    /* counters to be used for it: one bit where it needs a home counter */
	uint64_t selector; /* what the firmware writes to mhpmevent for it, with hpm.ssccfg only */
	bool raw;          /* the firmware also takes this selector as a raw event */
	const char *fault; /* why it is not given out, see hpm_selfcheck.h; NULL: it is */
};

/* What a counter holds. */
struct hpm_slot {
	struct hw_event config; /* event_idx 0: nothing that anybody asks for */
	bool programmed;        /* it holds something, and is to be reset first */
	union {
		uint64_t selector; /* ssccfg back end: its mhpmevent without OF */
		uint64_t value;    /* sbi back end: what a fresh one is to start from */
	};
} __attribute__((aligned(32))); /* found by a shift */

struct hpm {
	uint64_t hctrs; /* counters 3..31 that count with filters */
	uint64_t fixed; /* those of 0 and 2 that do, and may be lent to guests */
	uint32_t width; /* bits of each */
	uint32_t n_events;
	bool lcofi;      /* an overflow can be delivered to a guest */
	bool hart_flags; /* the guest reads the hart's own scountovf, see hpm_flags.c */
	bool ssccfg;     /* menvcfg.CDE is set: a guest's read of scountovf traps */
	bool
	    delegated; /* counters are driven without the firmware: the ssccfg back end, else sbi */
	const char *undelegated; /* with ssccfg: why they cannot be, NULL: they can */
	const char
	    *no_overflow; /* what keeps a hart that should have LCOFI from it, NULL: nothing */
	uint64_t may_arm; /* those that hold an event whose counter may be armed */
	uint64_t armed;   /* last set with OF = 0: only their flags mean an overflow */
	uint64_t far;     /* with hart_flags: last started far from the wrap, with OF = 0 */
	uint64_t fresh;   /* sbi back end: set, and their values yet to be written by run() */
	uint64_t failed;  /* sbi back end: see hpm_failures() */
	struct hpm_slot slots[32];
	struct hpm_event events[HPM_MAX_EVENTS];
};

/* HPM_AUTO, HPM_SSCCFG: the delegated one where the hart has it, else the firmware. */
enum hpm_choice { HPM_AUTO, HPM_SBI, HPM_SSCCFG };

/* Finds counters and events, clears stale overflow flags, chooses the back end, and tries what all
 * else relies on (hpm_selfcheck.h). patience: how long an overflow may take, in ticks of time. At
 * boot. */
void hpm_init(struct hpm *hpm, bool sscofpmf, enum hpm_choice choice, uint64_t patience);

/* The counters to be used for an event on this hart, 0: it cannot be counted. A raw event may cost
 * all counters but the running ones what they held, see hpm_raw.h. */
uint64_t hpm_event_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data,
                         uint64_t running);

/* Finds out which fixed counters have filters, at boot: see hpm_fixed.c. */
void hpm_fixed_probe(struct hpm *hpm);

/* How a raw event is said to this firmware: as v2 where it knows that, as v1 where the value fits
 * in 48 bits. false: neither (SBI 3.0 sections 11.3 and 11.4). Other events stay as they are. */
bool hpm_firmware_event(const struct hw_event *config, uint32_t *event_idx);
const struct hpm_event *hpm_event_find(const struct hpm *hpm, uint32_t event_idx);

/* Is this what it has been programmed for? */
static inline bool hpm_holds(const struct hpm *hpm, uint32_t hctr, const struct hw_event *config)
{
	const struct hpm_slot *slot = &hpm->slots[hctr];

	return slot->programmed && hw_event_equal(&slot->config, config);
}

/*
 * Counters that the firmware has refused to start, or to stop, or to give the filter or flag that
 * was asked for, since this was asked last. One that was to run may stand still or count wrong; one
 * that was to stand still may run, and has its right value as long as HS is not left. hpm_failed()
 * is called when there are some: core/ sees to it that they are asked for before a guest goes on.
 */
void hpm_failed(void);

static inline uint64_t hpm_failures(struct hpm *hpm)
{
	uint64_t failed = hpm->failed;

	hpm->failed = 0;
	return failed;
}

/* cycle, instret or hpmcounterN, running or stopped. Clobbers no more than it says, so that who
 * asks for it need not save what a call would cost. */
static inline uint64_t hpm_read(uint32_t hctr)
{
	register uint64_t a0 __asm__("a0") = hctr;

	__asm__ volatile("jal	t1, hpm_read_a0" : "+r"(a0)::"t0", "t1");
	return a0;
}

/* Takes the pending LCOFI off the hart. Returns which of the counters that were last set armed have
 * their flag set, running or not. */
uint64_t hpm_take_overflow(const struct hpm *hpm);

/*
 * From here on the hart's vcpu, the only one, reads the hart's scountovf: no flag is set. Any
 * number of times; no counter runs.
 */
void hpm_show_flags(struct hpm *hpm);

/* With hart_flags: gives these counters the flags of a set; values stay. running: those that run.
 * No LCOFI pends that belongs to any of them. */
void hpm_set_flags(struct hpm *hpm, uint64_t hctrs, uint64_t flags, uint64_t running);

#endif
