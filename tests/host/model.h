/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PMU of one vcpu must do, written from chapter 11 of the SBI specification alone: each
 * logical counter is an ideal counter of its own, which moves when the guest spends events.
 *
 * The model takes each call together with the library's answer, says what is wrong with the
 * answer (NULL: nothing), and adopts it where the choice is the implementation's. What a call
 * may touch of the guest's memory it compares with what the fake memory noted.
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
	bool lost;    /* the hardware refused it: stopped, and not readable until started again */
	bool unknown; /* and that was found out late: it has no value to go on from */
	bool of;      /* its overflow flag */
	bool near;    /* started within 2^62 of its wrap, and has not wrapped since */
	/*
	 * It runs and counts HS, so that work of the vPMU has moved it by nobody knows how much
	 * since a value of it was last seen: by no more than fake_trace.hs_units less hs_seen,
	 * and by `owed`, from before its last stop.
	 */
	bool loose;
	/* Its value at the start was not known so well: the library says whether it wrapped. */
	bool vague;
	bool first;     /* no other counter was configured for its event then */
	bool displaced; /* moved by an emulated instruction: reads may need an exit for a while */
	uint32_t event_idx;
	uint32_t inhibit; /* HW_INH_VS, HW_INH_VU */
	uint64_t event_data;
	uint64_t value;
	uint64_t hs_seen;
	uint64_t owed;
};

/* An event_get_info that is not done yet. */
struct model_info {
	unsigned long lo;
	unsigned long num;
	unsigned long next;  /* 0: there is none */
	unsigned long place; /* what goes for hi when the guest executes it again */
};

struct model {
	struct vpmu_policy policy;
	uint32_t vcpu; /* whose memory */
	bool fault;    /* the hardware refused something in the call that is checked next */
	struct model_lctr c[VPMU_COUNTERS];
	uint64_t wraps; /* overflow flags set so far */
	/* Those that work of the vPMU may have set unseen, before their counter was reset. */
	uint64_t unseen_wraps;
	bool look_due;      /* so that a silent counter may have wrapped, and nobody knows yet */
	uint64_t hs_before; /* fake_trace.hs_units when the call that is checked next began */
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
const char *model_start(struct model *m, unsigned long base, unsigned long mask,
                        unsigned long flags, uint64_t value, struct sbi_ret got);
const char *model_stop(struct model *m, unsigned long base, unsigned long mask, unsigned long flags,
                       struct sbi_ret got);
const char *model_set_shmem(struct model *m, unsigned long lo, unsigned long hi,
                            unsigned long flags, struct sbi_ret got);
/* One call; the guest executes it again, with that for hi, as long as again is not 0. */
const char *model_event_info(struct model *m, unsigned long lo, unsigned long hi, unsigned long num,
                             unsigned long flags, struct sbi_ret got, unsigned long again);

/* The resident guest spent units of the events (FAKE_BIT) in a mode. */
void model_step(struct model *m, enum fake_mode mode, uint32_t events, uint64_t units);
/* It executed an instruction that was emulated. Returns whether a counter saw it. */
bool model_retired(struct model *m, bool user);
void model_fw_event(struct model *m, uint32_t code, uint64_t n);
/* The vcpu became resident. */
void model_restored(struct model *m);

/*
 * The hardware refused to run one of these counters, which backs this running one. false: it cannot
 * have hit it. late: it did not say so at once.
 */
bool model_lose(struct model *m, uint32_t idx, uint64_t refused, bool late);

/* A value of a counter was seen. false: it cannot be. */
bool model_value(struct model *m, uint32_t idx, uint64_t value);

/* The library told, or did not tell, of an overflow of a counter that is vague. */
void model_adopt_of(struct model *m, uint32_t idx, bool of);

/* Units of its event until the counter wraps; 0: a whole round of 2^64. */
uint64_t model_left(const struct model *m, uint32_t idx);

uint32_t model_scountovf(const struct model *m);
/*
 * Those of its flags that the library may not know of yet: a silent counter of a cache event that
 * counts HS has gone on by what HS did since its look was asked for, which comes so much too late.
 */
uint32_t model_late(const struct model *m);
/* The events of fw_port_events that running counters count. */
uint32_t model_watched(const struct model *m);
/* Counters that must be readable without an exit, and those that may be. */
uint64_t model_must_be_direct(const struct model *m);
uint64_t model_may_be_direct(const struct model *m);
/* 1, 0, or -1 where either answer is right. */
int model_wfi_must_trap(const struct model *m);

#endif
