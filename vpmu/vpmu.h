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

#include "vpmu/sbi_pmu.h"
#include "vpmu/state.h"

/* An empty PMU: every counter unconfigured and zero. The vcpu is not resident. */
void vpmu_init(struct vpmu *v, const struct vpmu_policy *policy);

/* Back to vpmu_init(), whose WFI goes on as vpmu_wfi_traps() says; stops what runs. The vcpu is
 * resident. */
void vpmu_reset(struct vpmu *v);

/* --- the guest's calls ---------------------------------------------------------------------- */

/*
 * Entries that one vpmu_event_get_info() answers at most. A raw event ends the slice: it may cost
 * the port questions to the firmware, and a stay in HS must not be longer than 20,000 instructions.
 */
#define VPMU_INFO_SLICE 8U

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

/* --- while it runs -------------------------------------------------------------------------- */

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
 * Each WFI of the guest traps from here on, or none does, which it must not while
 * vpmu_wfi_must_trap(). At first each does. Where none does vpmu_port_trap_wfi() says when that has
 * to end; nobody says when it need not trap any more. And what was said last, by either side.
 */
static inline void vpmu_note_wfi(struct vpmu *v, bool traps)
{
	v->wfi_traps = traps;
}

static inline bool vpmu_wfi_traps(const struct vpmu *v)
{
	return v->wfi_traps;
}

/*
 * The hart did not do what it was told with these hctrs since the vcpu became resident, or since
 * this was called last: what should run there is lost, and starts again with a given value only.
 * What was stopped there keeps its value. Before the guest goes on; after vpmu_save(), which leaves
 * what it parked there to be set anew, too.
 */
void vpmu_failed(struct vpmu *v, uint64_t hctrs);

#endif
