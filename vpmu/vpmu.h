/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual PMU of one vcpu: SBI 3.0 chapter 11 towards the guest, vpmu/port.h towards the
 * hart. All state is in struct vpmu and belongs to the hart on which the vcpu is resident (or
 * was last); no locks, no allocation, no globals.
 *
 * Unless said otherwise a function is called in HS-mode, by the hart on which the vcpu is
 * resident, between vpmu_restore() and vpmu_save().
 */
#ifndef VPMU_VPMU_H
#define VPMU_VPMU_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/bits.h"
#include "vpmu/port.h"
#include "vpmu/sbi_pmu.h"

/* A logical counter as the guest numbers it (counter_idx). */
typedef struct {
	uint32_t idx;
} lctr_t;

#define VPMU_HW_COUNTERS 32U /* lctr 0..31: same index and CSR as the hart's counter */
#define VPMU_FW_COUNTERS 16U /* follow the highest hardware counter of the hart */
#define VPMU_COUNTERS    64U
#define VPMU_OBSERVERS   8U /* counters of who is not the guest: observe.h */
#define VPMU_FW_EVENTS   22U
/* The lctr of each observer: above all that a guest can name. */
#define VPMU_OBSERVER(n) (VPMU_COUNTERS - VPMU_OBSERVERS + (n))
/*
 * Entries that one vpmu_event_get_info() answers at most. A raw event ends the slice: it may cost
 * the port questions to the firmware, and a stay in HS must not be longer than 20,000 instructions.
 */
#define VPMU_INFO_SLICE 8U

/* An event that may be counted, as found at boot or when first asked for. Private to vpmu/. */
struct vpmu_known {
	uint32_t event_idx; /* type 0 or 1; 0: none */
	uint32_t hctrs;     /* those that can count it, of those granted; never 0 */
	uint32_t home;      /* index of the only one, for lctr and hctr; 0: there is none such */
};
#define VPMU_KNOWN 16U

/* What the VM tree says of a VM's PMU, and what the harts it may run on have. Constant. */
struct vpmu_policy {
	uint64_t hctrs;   /* hardware counters granted; bit 1 (time) never set */
	uint32_t fw_base; /* counter_idx of the first firmware counter, <= 40 */
	uint32_t width;   /* bits of every hardware counter, 1..64 */

	/*
	 * Firmware events that this machine counts truly, as masks of codes 0..21, disjoint: those
	 * that vpmu_fw_event() reports, and those of which vpmu_port_fw_total() keeps the total.
	 * The latter also keeps those of the codes 256 .. 256 + n_tally_events - 1.
	 */
	uint32_t fw_events;
	uint32_t fw_port_events;
	uint32_t n_tally_events;

	/*
	 * The event_idx that this VM may count; NULL: all. Types 0, 1 and 15 each by its exact
	 * event_idx; 0x20000 and 0x30000 stand for all raw events of their type.
	 */
	const uint32_t *events;
	uint32_t n_events;

	/* VPMU_KNOWN places that vpmu_know() has filled; NULL: events are found when first asked
	 * for. */
	const struct vpmu_known *known;

	bool overflow;    /* virtual LCOFI works for this VM */
	bool trap_reads;  /* never open a counter for direct reads */
	bool snapshot;    /* FID 7 is offered */
	bool count_hs;    /* what HS does for the vcpu counts as its VS: see HW_COUNT_HS */
	bool cheap_moves; /* to stop and start a counter costs the port a few instructions, or must
	                   */
	bool steps;       /* vpmu_port_step() is to be had */

	/*
	 * The guest reads the hart's overflow flags by itself, so each counter wants the hctr of
	 * its own index for itself.
	 */
	bool hart_flags;

	/* The hart tells of no wrap of a cache event's counter: it has to be looked for. */
	bool silent_cache;

	/* A WFI in VS that does not trap: other counts than cycles are wrong after it. */
	bool wfi_recounts;
	/* It never traps, and is cycles as long as it lasts. What it makes wrong is refused. */
	bool idle_cycles;
};

/* A logical counter. Private to vpmu/. */
struct vpmu_counter {
	uint64_t value; /* of a counter that does not run */
	/* Of one that runs: its value less what it runs on (the count of its hctr, the total of its
	 * firmware event), so that counting writes nothing here. */
	uint64_t offset;
	uint32_t event_idx; /* what it counts; of a hardware counter its hctr knows the rest */
	/* When these hctrs count a trapped read of it, they are what backs it and `beside`, which
	 * may be that as well. Means nothing without a reader. */
	uint32_t read_counts;
	uint8_t hctr; /* hardware events: what backs it */
	uint8_t beside;
	/* Who read it, since it runs, when that was noted, see vpmu_read_noted(); 0: nobody */
	uint32_t reader;
} __attribute__((aligned(32))); /* found by a shift */

/* What this vcpu knows of a hardware counter. Private to vpmu/. */
struct vpmu_hctr {
	/* It counts what the hardware does, and emulated instructions: so many since it was last
	 * set, see retired.c. */
	uint64_t ahead;
	uint64_t count; /* both, when last looked at */
	uint64_t users; /* configured lctrs that it backs, observers among them, and VPMU_HS_USES */
} __attribute__((aligned(32))); /* found by a shift */

/* HS is a user of the fixed counters for ever, in place of lctr 1, which nobody has: no other is
 * ever alone there. */
#define VPMU_HS_USES UINT64_C(2)

/* Of a firmware event's code: does a VM of this policy have it? */
static inline bool vpmu_fw_event_exists(const struct vpmu_policy *policy, uint32_t code)
{
	if (code < VPMU_FW_EVENTS)
		return ((policy->fw_events | policy->fw_port_events) & 1U << code) != 0;
	return code >= SBI_PMU_FW_IMPL_FIRST && code < SBI_PMU_FW_PLATFORM &&
	       code - SBI_PMU_FW_IMPL_FIRST < policy->n_tally_events;
}

/* Embedded by value in its vcpu; the fields are private to vpmu/. */
struct vpmu {
	struct vpmu_policy policy;

	/* What follows from the policy; constant. */
	uint64_t value_mask; /* the low policy.width bits */
	uint64_t near_span;  /* a counter so close to its wrap is near; 0: none ever is */
	uint64_t fw_lctrs;   /* sets of lctr: the firmware counters, ... */
	uint64_t all_lctrs;  /* ... and all that there are */
	uint64_t openable;   /* set of hctr: those that may be direct */

	/* Sets of lctr. running and lost are disjoint parts of configured. */
	uint64_t configured;
	uint64_t running;
	uint64_t lost;     /* the hardware refused it: no value to be had, see counter.c */
	uint64_t overflow; /* OF, hardware counters only */
	uint64_t near;     /* part of running: its next wrap must be told, see overflow.c */
	/* Part of configured: alone on the hctr of its index, and at offset 0 whenever it runs. */
	uint64_t solo;

	/*
	 * Sets of hctr. While the vcpu is not resident nothing is active, and what it owns is as it
	 * left it: another vcpu that wants such an hctr has it evicted first, see switch.c.
	 */
	uint64_t active; /* running in hardware: exactly those with a running lctr */
	uint64_t parked; /* active when vpmu_save() stopped them */
	uint64_t armed;  /* part of active or parked: will raise LCOFI and has not yet */
	uint64_t
	    owned; /* the hardware holds its event for this vcpu, and nobody touched it since */
	/* Part of owned: it reads what the lctr of its index reads, configured or not, which runs
	 * if and only if it does. */
	uint64_t shown;
	uint64_t direct; /* what vpmu_port_set_direct() was told */
	/* By what they were last made to hold: what a WFI in VS would count for other than itself;
	 * CPU_CYCLES or INSTRUCTIONS that count VS [0], VU [1]. */
	uint64_t wfi;
	uint64_t retires[2];
	uint64_t silent; /* and what tells nobody when it wraps: fixed.c */

	/* It counts HS, or has a counter on a fixed one, or a near one on a silent one: what does
	 * not concern most. */
	bool careful;
	bool looks; /* what vpmu_port_look_after() was told has yet to come */

	/* What a read of scountovf counts on: as read_counts, hctr, beside and reader of a counter.
	 */
	uint8_t ovf_hctr;
	uint8_t ovf_beside;
	uint32_t ovf_counts;
	uint32_t ovf_reader;

	bool lcofi_due; /* a wrap was found and LCOFI not yet raised; false between calls */

	/* The first of these begin within 2 KiB of the start of the vcpu, see there. */
	struct vpmu_hctr hctr[VPMU_HW_COUNTERS];
	struct vpmu_counter counter[VPMU_COUNTERS];
	struct vpmu_known known[VPMU_KNOWN];
	/* What an hctr was last made to hold for this vcpu: what all its users count. */
	struct hw_event event[VPMU_HW_COUNTERS];
	uint64_t fw_total[VPMU_FW_EVENTS]; /* since vpmu_init(), counted or not */
	uint32_t fw_watched;               /* what vpmu_port_fw_watch() was told */
	uint64_t unknown; /* part of lost: nor is the value known that it would go on from */

	bool snapshot_set; /* snapshot_gpa is a page of this VM's RAM */
	uint64_t snapshot_gpa;
};

/*
 * Which of the hart's counters can count a standard event (of type 0 or 1), as
 * vpmu_port_event_hctrs() would say on each hart of the VM. At boot, when the rest of the policy is
 * known; known: all 0 at first.
 */
void vpmu_know(const struct vpmu_policy *policy, struct vpmu_known known[VPMU_KNOWN],
               uint32_t event_idx, uint64_t hctrs);

/* An empty PMU: every counter unconfigured and zero. The vcpu is not resident. */
void vpmu_init(struct vpmu *v, const struct vpmu_policy *policy);

/*
 * A struct sbi_ret with error in the low half, value in the high one: the same two registers, but
 * compilers keep this one in them, and need no stack to return what another function has answered.
 */
typedef unsigned __int128 vpmu_answer;

/* The functions of the extension; arguments as the guest passed them, checked here. */
struct sbi_ret vpmu_num_counters(const struct vpmu *v);
struct sbi_ret vpmu_counter_get_info(const struct vpmu *v, unsigned long counter_idx);
struct sbi_ret vpmu_counter_config_matching(struct vpmu *v, unsigned long counter_idx_base,
                                            unsigned long counter_idx_mask,
                                            unsigned long config_flags, unsigned long event_idx,
                                            uint64_t event_data);
vpmu_answer vpmu_start_answer(struct vpmu *v, unsigned long counter_idx_base,
                              unsigned long counter_idx_mask, unsigned long start_flags,
                              uint64_t initial_value);
vpmu_answer vpmu_stop_answer(struct vpmu *v, unsigned long counter_idx_base,
                             unsigned long counter_idx_mask, unsigned long stop_flags);
struct sbi_ret vpmu_counter_fw_read(const struct vpmu *v, unsigned long counter_idx);
struct sbi_ret vpmu_counter_fw_read_hi(const struct vpmu *v, unsigned long counter_idx);

struct sbi_ret vpmu_snapshot_set_shmem(struct vpmu *v, unsigned long shmem_phys_lo,
                                       unsigned long shmem_phys_hi, unsigned long flags);

/*
 * Answers at most VPMU_INFO_SLICE entries, fewer with raw events. *again, not 0: there is more to
 * do, the result means nothing yet, and the same call has to be made again before the guest goes
 * on, with *again for shmem_phys_hi.
 */
struct sbi_ret vpmu_event_get_info(struct vpmu *v, unsigned long shmem_phys_lo,
                                   unsigned long shmem_phys_hi, unsigned long num_entries,
                                   unsigned long flags, unsigned long *again);

static inline struct sbi_ret vpmu_unpack(vpmu_answer answer)
{
	return (struct sbi_ret){.error = (long)answer, .value = (unsigned long)(answer >> 64)};
}

static inline struct sbi_ret vpmu_counter_start(struct vpmu *v, unsigned long counter_idx_base,
                                                unsigned long counter_idx_mask,
                                                unsigned long start_flags, uint64_t initial_value)
{
	return vpmu_unpack(
	    vpmu_start_answer(v, counter_idx_base, counter_idx_mask, start_flags, initial_value));
}

static inline struct sbi_ret vpmu_counter_stop(struct vpmu *v, unsigned long counter_idx_base,
                                               unsigned long counter_idx_mask,
                                               unsigned long stop_flags)
{
	return vpmu_unpack(vpmu_stop_answer(v, counter_idx_base, counter_idx_mask, stop_flags));
}

/* Is it enough to say of these hctrs that they are one more ahead? */
static inline bool vpmu_goes_ahead(const struct vpmu *v, uint64_t hctrs)
{
	return v->near == 0 && (v->shown & hctrs) == 0;
}

/*
 * Adds one to these hctrs, see retired.c. Returns those that are left to vpmu_retired_dear(): where
 * the port does not step, those that go ahead for the first time, and all while a counter is near
 * its wrap.
 */
static inline uint64_t vpmu_step(struct vpmu *v, uint64_t hctrs)
{
	uint32_t i;

	if (hctrs == 0)
		return 0;
	if (v->policy.steps)
		return vpmu_port_step(hctrs, v->value_mask);
	if (!vpmu_goes_ahead(v, hctrs))
		return hctrs;
	for_each_bit (i, hctrs)
		v->hctr[i].ahead++;
	return 0;
}

/*
 * The guest executed one instruction in VS, or in VU (user), that the hart did not count because
 * it trapped and was emulated: CPU_CYCLES and INSTRUCTIONS that count that mode go on by one.
 * To be called before the value that a trapped counter read gives is taken: a read that does not
 * trap counts itself, too.
 *
 * In two halves, for who is in a hurry: the first returns hctrs that are left to the second, 0
 * where it was a matter of a few instructions.
 */
static inline uint64_t vpmu_retired_cheap(struct vpmu *v, bool user)
{
	return vpmu_step(v, v->active & (user ? v->retires[1] : v->retires[0]));
}

void vpmu_retired_dear(struct vpmu *v, uint64_t hctrs);

static inline void vpmu_retired(struct vpmu *v, bool user)
{
	uint64_t dear = vpmu_retired_cheap(v, user);

	if (dear != 0)
		vpmu_retired_dear(v, dear);
}

/*
 * A trapped read of the CSR of counter n: cycle, instret or hpmcounterN. Is that counter
 * configured, and the guest's? If not it gets an illegal instruction. n: any; the caller deals with
 * scounteren.
 */
static inline bool vpmu_may_read(const struct vpmu *v, uint64_t n)
{
	/* A firmware counter may have the index of a CSR that the guest does not have. */
	return n < VPMU_HW_COUNTERS && (v->policy.hctrs & v->configured & ~v->lost) >> n & 1;
}

/* A counter that may be read, which can be told by less where it runs. n: 0..31 */
static inline bool vpmu_runs(const struct vpmu *v, uint64_t n)
{
	return (v->policy.hctrs & v->running) >> n & 1;
}

/* What an hctr that this vcpu started counts now, running or not. */
static inline uint64_t vpmu_count(const struct vpmu *v, hctr_t hctr)
{
	return (vpmu_port_read(hctr) + v->hctr[hctr.idx].ahead) & v->value_mask;
}

/* The value of a counter that may be read; the first is for those that run. */
static inline uint64_t vpmu_running_value(const struct vpmu *v, uint64_t n)
{
	const struct vpmu_counter *c = &v->counter[n];

	return (vpmu_count(v, (hctr_t){c->hctr}) + c->offset) & v->value_mask;
}

/* The hctrs that count an emulated instruction of VS. */
static inline uint64_t vpmu_vs_retires(const struct vpmu *v)
{
	return v->active & v->retires[0];
}

/*
 * Is it noted of a counter which hctrs count a read of it by VS, its own and one more at most?
 * Those are in *counts then. It is only of a hardware counter that runs. n: 0..31. reader: not 0,
 * and what vpmu_retired_read() was told; who asked then whether this one may read need not ask
 * again.
 */
static inline bool vpmu_read_noted(const struct vpmu *v, uint64_t n, uint64_t reader,
                                   uint64_t *counts)
{
	const struct vpmu_counter *c = &v->counter[n];

	*counts = vpmu_vs_retires(v);
	return c->reader == reader && c->read_counts == *counts;
}

/* Adds one to two hctrs, or to one that is both, where the port steps. Returns those that are left
 * to do, of these, which are all. last: see vpmu_port_step(). */
static inline uint64_t vpmu_step_both(uint64_t one, uint64_t beside, uint64_t all, uint64_t last,
                                      uint64_t *value)
{
	uint64_t other;

	if (__builtin_expect(vpmu_port_step_read((hctr_t){(uint32_t)one}, last, value) != 0, 0))
		return all;
	if (beside != one &&
	    __builtin_expect(vpmu_port_step_read((hctr_t){(uint32_t)beside}, last, &other) != 0, 0))
		return all & ~(UINT64_C(1) << one);
	return 0;
}

/* The same where it does not. */
static inline uint64_t vpmu_both_go_ahead(struct vpmu *v, uint64_t one, uint64_t beside,
                                          uint64_t all)
{
	if (!vpmu_goes_ahead(v, all))
		return all;
	v->hctr[one].ahead++;
	if (beside != one)
		v->hctr[beside].ahead++;
	return 0;
}

/*
 * vpmu_retired_cheap() for a read that is noted, and its value, which means nothing unless 0 is
 * returned. Where the port steps no hctr is ahead. counts: from vpmu_read_noted().
 */
static inline uint64_t vpmu_retired_noted(struct vpmu *v, uint64_t n, uint64_t counts,
                                          uint64_t *value)
{
	const struct vpmu_counter *c = &v->counter[n];
	uint64_t own = c->hctr;
	uint64_t mask = v->value_mask;
	uint64_t left;

	*value = 0;
	if (v->policy.steps) {
		left = vpmu_step_both(own, c->beside, counts, mask, value);
	} else {
		left = vpmu_both_go_ahead(v, own, c->beside, counts);
		if (left == 0)
			*value = vpmu_port_read((hctr_t){(uint32_t)own}) + v->hctr[own].ahead;
	}
	if (left != 0)
		return left;
	*value = (*value + c->offset) & mask;
	return 0;
}

/* The same three for a read of scountovf by VS. */
static inline bool vpmu_scountovf_noted(const struct vpmu *v, uint64_t reader, uint64_t *counts)
{
	*counts = vpmu_vs_retires(v);
	return v->ovf_reader == reader && v->ovf_counts == *counts;
}

uint64_t vpmu_retired_scountovf(struct vpmu *v, uint64_t reader);

static inline uint64_t vpmu_retired_scountovf_noted(struct vpmu *v, uint64_t counts)
{
	uint64_t value;

	if (counts == 0)
		return 0;
	if (v->policy.steps)
		return vpmu_step_both(v->ovf_hctr, v->ovf_beside, counts, v->value_mask, &value);
	return vpmu_both_go_ahead(v, v->ovf_hctr, v->ovf_beside, counts);
}

/* vpmu_retired_noted() for any read by VS of a hardware counter that runs; notes what the next one
 * can use. */
uint64_t vpmu_retired_read(struct vpmu *v, uint64_t n, uint64_t reader, uint64_t *value);

static inline uint64_t vpmu_csr_value(const struct vpmu *v, uint64_t n)
{
	return (v->running >> n & 1) != 0 ? vpmu_running_value(v, n) : v->counter[n].value;
}

/* Sets of hctr: those that run for the resident vcpu, and those of them that will raise LCOFI. */
static inline uint64_t vpmu_active(const struct vpmu *v)
{
	return v->active;
}

static inline uint64_t vpmu_armed(const struct vpmu *v)
{
	return v->armed;
}

/* Those that run, or will when the vcpu is resident again. Of any vcpu of this hart. */
static inline uint64_t vpmu_started(const struct vpmu *v)
{
	return v->active | v->parked;
}

/* Does the guest have scountovf and LCOFI? */
static inline bool vpmu_has_overflow(const struct vpmu *v)
{
	return v->policy.overflow;
}

/* What the guest reads in scountovf: overflow flags of its own hardware counters. */
static inline uint32_t vpmu_scountovf(const struct vpmu *v)
{
	return (uint32_t)v->overflow;
}

/* The hart took an LCOFI, or may have one pending. */
void vpmu_overflow(struct vpmu *v);

/* It is time for what vpmu_port_look_after() was told. */
void vpmu_look(struct vpmu *v);

/* Tally served or saw n firmware events of this vcpu. May be called at any time. */
static inline void vpmu_fw_events(struct vpmu *v, uint32_t code, uint64_t n)
{
	if (code < VPMU_FW_EVENTS)
		v->fw_total[code] += n;
}

static inline void vpmu_fw_event(struct vpmu *v, uint32_t code)
{
	vpmu_fw_events(v, code, 1);
}

/* For who is not the guest: how often that was since vpmu_init(), and what vpmu_port_fw_watch() was
 * told last. code: below VPMU_FW_EVENTS. */
static inline uint64_t vpmu_fw_seen(const struct vpmu *v, uint32_t code)
{
	return v->fw_total[code];
}

static inline uint32_t vpmu_fw_watched(const struct vpmu *v)
{
	return v->fw_watched;
}

/* World switch: save leaves the hart with none of this vcpu's counters running, none direct. */
void vpmu_save(struct vpmu *v);
void vpmu_restore(struct vpmu *v);

/*
 * Somebody else is about to use an hctr of this vcpu's, which is not resident: from here on the
 * hart's counter is as the vcpu left it no more. Called by the port, before it touches it; it may
 * read it meanwhile. Any hctr, any number of times.
 */
void vpmu_evict(struct vpmu *v, hctr_t hctr);

/* After vpmu_evict() of hctrs of the resident vcpu that do not run: what was direct of them is so
 * no more. */
void vpmu_evicted(struct vpmu *v);

/* Would a counter be wrong after a WFI in VS now? It must then trap, and idle time be spent in HS.
 */
static inline bool vpmu_wfi_must_trap(const struct vpmu *v)
{
	return (v->active & v->wfi) != 0;
}

/*
 * The hart did not do what it was told with these hctrs since the vcpu became resident, or since
 * this was called last: what should run there is lost, and starts again with a given value only.
 * What was stopped there keeps its value. Before the guest goes on; after vpmu_save(), which leaves
 * what it parked there to be set anew, too.
 */
void vpmu_failed(struct vpmu *v, uint64_t hctrs);

enum vpmu_state { VPMU_STOPPED, VPMU_RUNNING, VPMU_LOST };

/* What struct vpmu_view's value is. */
enum vpmu_holds {
	VPMU_VALUE_NOW,
	VPMU_VALUE_AWAY,       /* it runs in a counter of another hart, which was not asked: 0 */
	VPMU_VALUE_LESS_TOTAL, /* vpmu_port_fw_total() of this vcpu is to be added */
	VPMU_VALUE_NONE,       /* it is lost */
};

/* A configured counter, for who is not the guest. */
struct vpmu_view {
	uint32_t event_idx;
	uint64_t event_data;
	enum vpmu_state state;
	enum vpmu_holds holds;
	uint64_t value;
	bool overflow; /* OF */
	bool is_fw;
	/* Of hardware counters. */
	uint32_t hctr;
	uint32_t inhibit; /* VPMU_INH_*, HW_COUNT_HS */
	/* Other counters of this vcpu run on the same hctr, or may. An observer: counters of its
	 * guest. */
	bool shared;
	bool direct; /* read without an exit */
};

/*
 * false: the counter is not configured. Changes nothing, of any vcpu, resident or not. same_hart:
 * the caller runs on the hart where the vcpu is or was last. Others see what is being
 * written: each field is one that was there, but they may be of different moments.
 */
bool vpmu_describe(const struct vpmu *v, uint32_t counter_idx, bool same_hart,
                   struct vpmu_view *view);

/* Set of lctr: those that the guest has configured. */
static inline uint64_t vpmu_configured(const struct vpmu *v)
{
	return v->configured & v->all_lctrs;
}

/* Back to vpmu_init(); stops what runs. The vcpu is resident. */
void vpmu_reset(struct vpmu *v);

#endif
