/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the PMU of one vcpu must do, written from chapter 11 of the SBI specification alone: each
 * logical counter is an ideal counter of its own, which moves when the guest spends events.
 *
 * The model takes each call together with the library's answer, says what is wrong with the
 * answer (NULL: nothing), and adopts it where the choice is the implementation's.
 */
#ifndef TESTS_HOST_MODEL_H
#define TESTS_HOST_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/host/fake_hart.h"
#include "vpmu/vpmu.h"

struct model_lctr {
	bool configured;
	bool running;
	bool lost; /* the hardware refused it: stopped, and not readable until started again */
	bool of;   /* its overflow flag */
	bool near; /* started within 2^62 of its wrap, and has not wrapped since */
	uint32_t event_idx;
	uint32_t inhibit;
	uint64_t event_data;
	uint64_t value;
};

struct model {
	struct vpmu_policy policy;
	bool fault; /* the hardware refused something in the call that is checked next */
	struct model_lctr c[VPMU_COUNTERS];
	uint64_t wraps; /* overflow flags set so far */
};

/* Things that a long run must have met. */
#define MODEL_SEEN(X)                                                                              \
	X(config_new)                                                                              \
	X(config_home)                                                                             \
	X(config_not_home)                                                                         \
	X(config_shared)                                                                           \
	X(config_replaces_stopped)                                                                 \
	X(config_fw)                                                                               \
	X(config_clear)                                                                            \
	X(config_auto_start)                                                                       \
	X(config_auto_start_near)                                                                  \
	X(config_invalid_flags)                                                                    \
	X(config_invalid_set)                                                                      \
	X(config_empty_set)                                                                        \
	X(config_bad_event)                                                                        \
	X(config_second_filter)                                                                    \
	X(config_no_counter)                                                                       \
	X(skip_new)                                                                                \
	X(skip_stopped)                                                                            \
	X(skip_running_same)                                                                       \
	X(skip_running_same_clear)                                                                 \
	X(skip_running_other)                                                                      \
	X(skip_wrong_kind)                                                                         \
	X(skip_infeasible)                                                                         \
	X(start_ok)                                                                                \
	X(start_several)                                                                           \
	X(start_keeps_value)                                                                       \
	X(start_near)                                                                              \
	X(start_far)                                                                               \
	X(start_clears_of)                                                                         \
	X(start_empty_set)                                                                         \
	X(start_invalid_flags)                                                                     \
	X(start_both_init_flags)                                                                   \
	X(start_invalid_set)                                                                       \
	X(start_unconfigured)                                                                      \
	X(start_already)                                                                           \
	X(start_already_and_others)                                                                \
	X(start_no_shmem)                                                                          \
	X(stop_ok)                                                                                 \
	X(stop_several)                                                                            \
	X(stop_reset)                                                                              \
	X(stop_keeps_of)                                                                           \
	X(stop_empty_set)                                                                          \
	X(stop_invalid_flags)                                                                      \
	X(stop_invalid_set)                                                                        \
	X(stop_already)                                                                            \
	X(stop_already_and_others)                                                                 \
	X(stop_unconfigured_reset)                                                                 \
	X(stop_no_shmem)                                                                           \
	X(wrap_near)                                                                               \
	X(wrap_far)                                                                                \
	X(wrap_shared)                                                                             \
	X(wrap_together)                                                                           \
	X(fault_config)                                                                            \
	X(fault_start)                                                                             \
	X(fault_lost)                                                                              \
	X(fault_start_again)

enum model_seen {
#define X(name) SEEN_##name,
	MODEL_SEEN(X)
#undef X
	    SEEN_COUNT,
};

extern uint64_t model_seen[SEEN_COUNT];

void model_init(struct model *m, const struct vpmu_policy *policy);

bool model_is_hw(const struct model *m, uint32_t idx);
bool model_is_fw(const struct model *m, uint32_t idx);

const char *model_num_counters(const struct model *m, struct vpmu_ret got);
const char *model_get_info(const struct model *m, unsigned long idx, struct vpmu_ret got);
const char *model_fw_read(const struct model *m, unsigned long idx, struct vpmu_ret got);
const char *model_fw_read_hi(const struct model *m, unsigned long idx, struct vpmu_ret got);
const char *model_config(struct model *m, unsigned long base, unsigned long mask,
                         unsigned long flags, unsigned long event_idx, uint64_t event_data,
                         struct vpmu_ret got);
const char *model_start(struct model *m, unsigned long base, unsigned long mask,
                        unsigned long flags, uint64_t value, struct vpmu_ret got);
const char *model_stop(struct model *m, unsigned long base, unsigned long mask, unsigned long flags,
                       struct vpmu_ret got);

/* The resident guest spent units of the events (FAKE_BIT) in a mode. */
void model_step(struct model *m, enum fake_mode mode, uint32_t events, uint64_t units);
void model_fw_event(struct model *m, uint32_t code);

/* The hardware refused to run what backs a running counter. false: it cannot have hit it. */
bool model_lose(struct model *m, uint32_t idx, uint64_t refused);

/* Units of its event until the counter wraps; 0: a whole round of 2^64. */
uint64_t model_left(const struct model *m, uint32_t idx);

uint32_t model_scountovf(const struct model *m);
/* Counters that must be readable without an exit, and those that may be. */
uint64_t model_must_be_direct(const struct model *m);
uint64_t model_may_be_direct(const struct model *m);
/* 1, 0, or -1 where either answer is right. */
int model_counts_cycles(const struct model *m);

#endif
