/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of two harts, of which one runs at a time, and some vcpus, each with the PMU of the
 * library and that of the model side by side. Whatever happens there is an operation with all its
 * arguments, so a list of them can be run again, shortened, decoded from bytes or written to a
 * file. After each one, all that the resident vcpu can see of its PMU is compared with the model.
 */
#ifndef TESTS_HOST_WORLD_H
#define TESTS_HOST_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/host/model.h"

#define VCPUS         FAKE_VCPUS
#define WORLD_ALLOWED 48U  /* events in an allowlist */
#define WORLD_TEXT    240U /* bytes of a line */

struct machine {
	struct fake_hart_config hart;
	/* .events, .table: any address stands for allowed[], table[] with raw_allowed[]. */
	struct vpmu_policy policy[VCPUS];
	uint32_t allowed[VCPUS][WORLD_ALLOWED];
	struct vpmu_table table[VCPUS];
	struct selector_allowed raw_allowed[VCPUS][WORLD_ALLOWED];
};

enum op_kind {
	/* Calls of the guest, by function id; a[] are the arguments. */
	OP_NUM_COUNTERS,
	OP_GET_INFO,
	OP_CONFIG,
	OP_START,
	OP_STOP,
	OP_FW_READ,
	OP_FW_READ_HI,
	OP_SET_SHMEM,
	OP_EVENT_INFO,
	OP_CSR_READ,   /* a trapped read of a CSR that is no counter: a[0] */
	OP_RUN,        /* enum fake_mode, work, units, overflows to serve at once */
	OP_FW_EVENT,   /* vcpu, code: vpmu_fw_event() reports it */
	OP_PORT_EVENT, /* vcpu, code, n: the port counts it */
	OP_RETIRED,    /* user: the guest executed an emulated instruction */
	OP_POKE,       /* gpa, value: the guest writes 64 bits of its memory */
	OP_ENTRIES,    /* gpa, n, seed: the guest writes n entries for event info */
	OP_OVERFLOW,   /* vpmu_overflow(), due or not */
	OP_SWITCH, /* to which vcpu, which its hart runs from then on; a[1]: who was running stays
	                 resident if that is another hart */
	OP_RESET,  /* HSM stop of the resident one */
	OP_MOVE,   /* which vcpu: to the other hart, its counters live */
	/* vcpu, observer, event_idx, event_data, flags and, in the upper half, a period */
	OP_OBSERVE,
	OP_UNOBSERVE, /* vcpu, observer */
	OP_BUDGET,    /* vcpu, what its budget is from now on */
	OP_KINDS,
};
#define OP_CALLS (OP_EVENT_INFO + 1U)

struct op {
	uint8_t kind;
	/* The n-th counter that is prepared in this step is refused; 0: none. */
	uint8_t fail_prepare;
	/* Or the n-th that is set, run or stopped fails without an error. Never both kinds in one
	 * step. */
	uint8_t fail_set;
	uint8_t fail_run;
	uint8_t fail_stop;
	uint64_t a[5];
};

/* a[1] of an OP_EVENT_INFO: 0, for the next slice of a call that is not complete if there is one.
 */
#define WORLD_AGAIN (~7UL)

/* The answer to the guest; value: of an OP_CSR_READ or a call. */
struct answer {
	struct sbi_ret ret;
	bool again; /* OP_EVENT_INFO: the guest executes the call again */
};

/* What an observer should count: an ideal counter. */
struct world_observer {
	bool on;
	uint32_t event_idx;
	uint32_t inhibit; /* HW_INH_* */
	uint64_t event_data;
	uint64_t value;
	bool samples;
	uint32_t hart; /* where the vcpu was when it began */
};

/* What should be left of a budget. */
struct world_budget {
	uint64_t left; /* negative, by two's complement: by how much it was exceeded */
	bool spent;
	uint64_t circles; /* how often `left` has wrapped since it was spent */
	uint64_t told;    /* how often, that it is spent */
	bool lost;        /* the hart has refused its counter */
};

struct vcpu {
	struct vpmu vpmu;
	struct model model;
	uint32_t hart;
	uint64_t raises; /* LCOFIs of this vcpu */
	/* At the last comparison: those, the wraps that they are for, and OF of both. */
	uint64_t raises_seen;
	uint64_t wraps_seen;
	uint32_t of_model;
	uint32_t of_library;
	struct world_observer observers[VPMU_OBSERVERS];
	struct world_budget budget; /* if its policy has one */
};

#define WORLD_COUNTS(X)                                                                            \
	X(steps)                                                                                   \
	X(calls)                                                                                   \
	X(switches)                                                                                \
	X(stayed_resident)                                                                         \
	X(turned_back)                                                                             \
	X(config_stays)                                                                            \
	X(moves_resident)                                                                          \
	X(moves_away)                                                                              \
	X(moves_counting)                                                                          \
	X(overflows)                                                                               \
	X(runs)                                                                                    \
	X(direct_reads)                                                                            \
	X(trapped_reads)                                                                           \
	X(illegal_reads)                                                                           \
	X(must_be_direct)                                                                          \
	X(displaced)                                                                               \
	X(bad_csr_reads)                                                                           \
	X(fw_reads)                                                                                \
	X(fw_reads_refused)                                                                        \
	X(infos)                                                                                   \
	X(infos_refused)                                                                           \
	X(fw_events_resident)                                                                      \
	X(fw_events_elsewhere)                                                                     \
	X(port_events_watched)                                                                     \
	X(port_events_unwatched)                                                                   \
	X(tally_events_resident)                                                                   \
	X(tally_events_elsewhere)                                                                  \
	X(watch_changes)                                                                           \
	X(emulated_in_vs)                                                                          \
	X(emulated_in_vu)                                                                          \
	X(reads_noted)                                                                             \
	X(lcofi_pending_at_call)                                                                   \
	X(lcofi_pending_at_emulation)                                                              \
	X(lcofi_pending_at_reset)                                                                  \
	X(lcofi_pending_at_switch)                                                                 \
	X(lcofi_from_hs)                                                                           \
	X(overflow_for_nothing)                                                                    \
	X(polling)                                                                                 \
	X(looks_put_off)                                                                           \
	X(faults)                                                                                  \
	X(failed_sets)                                                                             \
	X(failed_runs)                                                                             \
	X(failed_stops)                                                                            \
	X(resets)                                                                                  \
	X(resets_with_shmem)                                                                       \
	X(resets_in_info)                                                                          \
	X(wfi_must_trap)                                                                           \
	X(observed)                                                                                \
	X(observed_shared)                                                                         \
	X(observed_elsewhere)                                                                      \
	X(observe_no_event)                                                                        \
	X(observe_guests)                                                                          \
	X(observe_others)                                                                          \
	X(observer_reads)                                                                          \
	X(observers_in_the_way)                                                                    \
	X(observers_lost)                                                                          \
	X(sampling)                                                                                \
	X(sampling_silent)                                                                         \
	X(samples)                                                                                 \
	X(samples_shared)                                                                          \
	X(samples_late)                                                                            \
	X(samples_of_two)                                                                          \
	X(samples_beside_periods)                                                                  \
	X(samples_at_switch)                                                                       \
	X(samples_after_move)                                                                      \
	X(samplers_in_the_way)                                                                     \
	X(unobserved)                                                                              \
	X(budgets_renewed_away)                                                                    \
	X(budgets_spent)                                                                           \
	X(budgets_lost)                                                                            \
	X(budget_reads)

struct world_count {
#define X(name) uint64_t name;
	WORLD_COUNTS(X)
#undef X
};
extern struct world_count world_count;

/* The vcpus of the machine, and the one that is resident on the active hart. Read-only. */
extern struct vcpu world_vcpus[VCPUS];
extern uint32_t world_resident;
bool world_is_resident(const struct vcpu *vc);

/* Makes a fresh machine with vcpu 0 resident. */
void world_reset(const struct machine *machine);

/* Does one operation and compares. */
struct answer world_do(const struct op *op);

/* The first thing that differed since world_reset(), or "". */
const char *world_difference(void);
void world_differ(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For the hart of a machine: a misuse of the port counts as a difference. */
void world_misused(const char *what);

/* Writes an operation as a line, with its answer if there is one. */
void world_describe(const struct op *op, const struct answer *answer, char *text);
void world_describe_machine(const struct machine *machine, char *text, size_t size);

/* world_check.c, for world.c: see there. */
void world_check(struct vcpu *vc);
void world_note_lost(struct vcpu *vc);
/* Tells the vPMU what failed without an error. The vcpu is resident, or was just saved. */
void world_settle(struct vcpu *vc);
void world_take_overflow(struct vcpu *vc);
void world_check_saved(struct vcpu *vc);

/* world_observe.c, for world.c. */
void world_observe(uint32_t which, const struct op *op);
void world_observers_step(struct vcpu *vc, enum fake_mode mode, uint32_t work, uint64_t units);
/* An emulated instruction. */
void world_observers_retired(struct vcpu *vc, enum fake_mode mode);
/* After each operation. */
void world_observers_check(struct vcpu *vc, const struct op *op);
/* After an overflow was taken, in the middle of one. */
void world_observers_taken(struct vcpu *vc);
/* world_budget.c, for world.c; nothing of a vcpu without a budget. */
/* As boot does: chooses the counter of a budget of policy->budget_event, if there is one. */
void world_budget_place(const struct fake_hart_config *hart, struct vpmu_policy *policy);
void world_budget_begin(struct vcpu *vc);
void world_budget_step(struct vcpu *vc, uint32_t work, uint64_t units);
/* An emulated instruction. */
void world_budget_retired(struct vcpu *vc);
void world_budget_renew(struct vcpu *vc, const struct op *op);
/* After it was saved. */
void world_budget_saved(struct vcpu *vc);
void world_observers_saved(struct vcpu *vc);

/* Those that may have an observer that samples. */
uint64_t world_sampled_hctrs(const struct vcpu *vc);
/* After each operation. */
void world_budget_check(struct vcpu *vc, const struct op *op);

/* Returns the observers that are on, as a mask. */
uint32_t world_observers(const struct vcpu *vc);

#endif
