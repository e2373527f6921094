/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PMU of one vcpu must do, written from chapter 11 of the SBI specification alone: each
 * logical counter is an ideal counter of its own, which advances when the guest spends events.
 *
 * The model gets each call together with the library's answer, says what is wrong with the answer
 * (NULL: nothing), and adopts it if the implementation had a choice. It compares the call's
 * accesses to guest memory with those that the fake memory recorded.
 */
#ifndef TESTS_HOST_MODEL_H
#define TESTS_HOST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/host/fake_hart.h"
#include "tests/host/fake_mem.h"
#include "tests/host/model_seen.h"
#include "vpmu/vpmu.h"

struct model_lctr {
	bool configured;
	bool running;
	/* The hardware refused it: stopped, and not readable until it is started again. */
	bool lost;
	bool unknown;     /* and this was found out late: it has no value to continue from */
	bool of;          /* OF */
	bool given;       /* started with a value, and not the first time after OF was 1 */
	bool had_of;      /* OF was 1 since the last start */
	bool wrapped_far; /* it has wrapped and was not near */
	bool near;        /* started less than 2^62 counts before its wrap, and not wrapped since */
	/*
	 * It runs and counts HS, so calls of the vPMU have advanced it by an unknown amount since a
	 * value of it was last seen: by at most fake_trace.hs_units less hs_seen, and by `owed`
	 * from before its last stop.
	 */
	bool loose;
	/* Its value at the start was not exactly known, so the library decides whether it has
	 * wrapped. */
	bool vague;
	bool first; /* no other counter was configured for its event when it was configured */
	/* Advanced by an emulated instruction: reads may need an exit for a while. */
	bool displaced;
	uint32_t event_idx;
	uint32_t inhibit; /* HW_INH_VS, HW_INH_VU */
	uint64_t event_data;
	uint64_t value;
	uint64_t hs_seen;
	uint64_t owed;
};

/* An event_get_info call that is not complete. */
struct model_info {
	unsigned long lo;
	unsigned long num;
	unsigned long next; /* 0: there is none */
};

struct model {
	struct vpmu_policy policy;
	uint32_t vcpu; /* whose memory */
	bool fault;    /* the hardware refused something in the call that is checked next */
	struct model_lctr c[VPMU_COUNTERS];
	uint64_t wraps; /* number of times that OF was set */
	/* Those that calls of the vPMU may have set unseen, before their counter was reset. */
	uint64_t unseen_wraps;
	/* A polled counter may have wrapped, and the library does not know yet. */
	bool poll_due;
	/* fake_trace.hs_units at the beginning of the call that is checked next. */
	uint64_t hs_before;
	bool shmem_set;
	uint64_t shmem;
	struct model_info info;
};

void model_init(struct model *m, uint32_t vcpu, const struct vpmu_policy *policy);

bool model_is_hw(const struct model *m, uint32_t idx);
bool model_is_fw(const struct model *m, uint32_t idx);

const char *model_num_counters(const struct model *m, struct sbi_ret got);
const char *model_get_info(const struct model *m, unsigned long idx, struct sbi_ret got);
const char *model_fw_read(const struct model *m, unsigned long idx, struct sbi_ret got);
const char *model_fw_read_hi(const struct model *m, unsigned long idx, struct sbi_ret got);
const char *model_config(struct model *m, unsigned long base, unsigned long mask,
                         unsigned long flags, unsigned long event_idx, uint64_t event_data,
                         struct sbi_ret got);
/*
 * A counter is not configured any more, though the call is not over, or the hardware has refused
 * it. Returns false unless it was stopped, and might have been configured anew to make room.
 */
bool model_dropped(struct model *m, unsigned long base, unsigned long mask, unsigned long flags,
                   unsigned long event_idx, uint64_t event_data, uint32_t idx);
/* unseen: of the counters that were to start, those that did not, since the guest could not see
 * their OF. */
const char *model_start(struct model *m, unsigned long base, unsigned long mask,
                        unsigned long flags, uint64_t value, uint64_t unseen, struct sbi_ret got);
const char *model_stop(struct model *m, unsigned long base, unsigned long mask, unsigned long flags,
                       struct sbi_ret got);
const char *model_set_shmem(struct model *m, unsigned long lo, unsigned long hi,
                            unsigned long flags, struct sbi_ret got);
/* One call. As long as `again` is not 0, the guest executes it again with that value for hi. */
const char *model_event_info(struct model *m, unsigned long lo, unsigned long hi, unsigned long num,
                             unsigned long flags, unsigned long from, struct sbi_ret got,
                             unsigned long again);

/* The resident guest spent units of work in a mode. */
void model_step(struct model *m, enum fake_mode mode, uint32_t work, uint64_t units);
/* Whether an event counts each instruction that retires. */
bool model_counts_insns(uint32_t event_idx);
/* The guest executed an instruction that was emulated. Returns whether a counter counted it. */
bool model_retired(struct model *m, bool user);
void model_fw_event(struct model *m, uint32_t code, uint64_t n);
/* The vcpu became resident. */
void model_restored(struct model *m);

/*
 * The hardware refused to run one of these counters, which is behind this running one. Returns
 * false if it cannot have been this one. late: the hardware did not return an error at once.
 */
bool model_lose(struct model *m, uint32_t idx, uint64_t refused, bool late);

/* A value of a counter was seen. Returns false if it is impossible. */
bool model_value(struct model *m, uint32_t idx, uint64_t value);

/* The library did or did not report an overflow of a `vague` counter. */
void model_adopt_of(struct model *m, uint32_t idx, bool of);

/* Returns the units of its event until the counter wraps. 0: the full range of 2^64. */
uint64_t model_left(const struct model *m, uint32_t idx);

uint32_t model_scountovf(const struct model *m);
/*
 * With shows_flags. seen: OF as the guest reads it in the hart's CSR; pending: it may not be told
 * of those yet. Returns the bits that are wrong.
 */
uint32_t model_wrongly_seen(const struct model *m, uint32_t seen, uint32_t pending);
/* Whether OF of a counter can be 1, now or when it wraps, and the hart's bit has to be it. */
bool model_is_shown(const struct model *m, uint32_t idx);
/* Whether it is possible that the guest could not see OF of a counter. */
bool model_may_be_unseen(const struct model *m, uint32_t idx, uint32_t event_idx,
                         uint64_t event_data);
/*
 * Returns OF bits that the library may not know yet: a polled counter of a cache event that counts
 * HS has advanced by what HS did since its poll was requested, so the poll comes too late by that
 * much.
 */
uint32_t model_late(const struct model *m);
/* Returns the events of fw_port_events that running counters count. */
uint32_t model_watched(const struct model *m);
/* Return counters that must be readable without an exit, and those that may be. */
uint64_t model_must_be_direct(const struct model *m);
uint64_t model_may_be_direct(const struct model *m);
/* Returns 1 or 0, or -1 if either answer is right. */
int model_wfi_must_trap(const struct model *m);

#endif
