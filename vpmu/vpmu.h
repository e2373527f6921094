/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual PMU of one vcpu: SBI 3.0 chapter 11 towards the guest, vpmu/port.h towards the hart.
 * All state is in struct vpmu, and belongs to the hart on which the vcpu is resident, or was last.
 * There are no locks, no allocation, and no global state.
 *
 * Unless a comment says otherwise, a function is called in HS-mode, on the hart on which the vcpu
 * is resident, between vpmu_restore() and vpmu_save().
 */
#ifndef VPMU_VPMU_H
#define VPMU_VPMU_H

#include <stdbool.h>
#include <stdint.h>

#include "vpmu/sbi_pmu.h"
#include "vpmu/state.h"

/* Makes an empty PMU: every counter is unconfigured and zero. The vcpu is not resident. */
void vpmu_init(struct vpmu *v, const struct vpmu_policy *policy);

/* Resets the PMU to the state of vpmu_init(), and stops all counters. vpmu_wfi_traps() does not
 * change. The vcpu is resident. The rest of its budget is kept, and its counter runs again from the
 * next vpmu_restore() on. */
void vpmu_reset(struct vpmu *v);

/* The same for a vcpu that is not resident, and was last on this hart. */
void vpmu_clear(struct vpmu *v);

/* --- the guest's calls ---------------------------------------------------------------------- */

/*
 * The maximum number of entries that one vpmu_event_get_info() handles. A raw event ends the slice,
 * because the port may have to call the firmware for it, and HS must not take more than 20,000
 * instructions for one exit.
 */
#define VPMU_INFO_SLICE 8U

/*
 * A struct sbi_ret with the error in the low half and the value in the high half. Both use the same
 * two registers, but compilers keep this type in registers, and need no stack to return another
 * function's result.
 */
typedef unsigned __int128 vpmu_answer;

/* The functions of the extension. Arguments are unchecked, as the guest passed them. */
struct sbi_ret vpmu_num_counters(const struct vpmu *v);
struct sbi_ret vpmu_counter_get_info(const struct vpmu *v, unsigned long counter_idx);
struct sbi_ret vpmu_counter_config_matching(struct vpmu *v, unsigned long counter_idx_base,
                                            unsigned long counter_idx_mask,
                                            unsigned long config_flags, unsigned long event_idx,
                                            uint64_t event_data);
/*
 * With vpmu_policy.moves, but not cheap_moves, the error of config_matching may be VPMU_AGAIN,
 * which no guest sees: the call is not finished. vpmu_config_movable() must then be called with the
 * same arguments, before the guest runs again, until it returns something else. That takes at most
 * VPMU_HW_COUNTERS calls.
 */
#define VPMU_AGAIN 1L
struct sbi_ret vpmu_config_movable(struct vpmu *v, unsigned long counter_idx_base,
                                   unsigned long counter_idx_mask, unsigned long config_flags,
                                   unsigned long event_idx, uint64_t event_data);
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
 * Handles at most VPMU_INFO_SLICE entries, fewer with raw events, from entry *next on, which is 0
 * when a guest makes the call. If *next is not 0 then, entries are left and the result has no
 * meaning: the caller must repeat the call before the guest runs again.
 */
struct sbi_ret vpmu_event_get_info(struct vpmu *v, unsigned long shmem_phys_lo,
                                   unsigned long shmem_phys_hi, unsigned long num_entries,
                                   unsigned long flags, uint64_t *next);

/* --- while it runs -------------------------------------------------------------------------- */

/* Return sets of hctr: those that run for the resident vcpu, and those of them that will raise
 * LCOFI. */
static inline uint64_t vpmu_active(const struct vpmu *v)
{
	return v->active;
}

static inline uint64_t vpmu_armed(const struct vpmu *v)
{
	return v->armed;
}

/* Returns those that run, or will run when the vcpu is resident again. For any vcpu of this
 * hart. */
static inline uint64_t vpmu_started(const struct vpmu *v)
{
	return v->active | v->parked;
}

/* Whether the guest has scountovf and LCOFI. */
static inline bool vpmu_has_overflow(const struct vpmu *v)
{
	return v->policy.overflow;
}

/* Returns the guest's value of scountovf: OF of its own hardware counters. */
static inline uint32_t vpmu_scountovf(const struct vpmu *v)
{
	return (uint32_t)v->overflow;
}

/* Handles an LCOFI that the hart took, or may have pending. */
void vpmu_overflow(struct vpmu *v);

/* Must be called at the time that vpmu_port_poll_after() has requested. */
void vpmu_poll(struct vpmu *v);

/* Counts n firmware events that Tally served or saw for this vcpu. May be called at any time. */
static inline void vpmu_fw_events(struct vpmu *v, uint32_t code, uint64_t n)
{
	if (code < VPMU_FW_EVENTS)
		v->fw_total[code] += n;
}

static inline void vpmu_fw_event(struct vpmu *v, uint32_t code)
{
	vpmu_fw_events(v, code, 1);
}

/* The world switch. vpmu_save() stops all counters of this vcpu, and ends direct reads. */
void vpmu_save(struct vpmu *v);
void vpmu_restore(struct vpmu *v);

/*
 * The port calls this before another vcpu uses an hctr of this vcpu, which is not resident. It may
 * read the hctr. Afterwards this vcpu does not rely on the contents of the hctr any more. Any hctr
 * is valid, and the call may be repeated.
 */
void vpmu_evict(struct vpmu *v, hctr_t hctr);

/* Called after vpmu_evict() of hctrs of the resident vcpu that do not run: ends direct reads of
 * them. */
void vpmu_finish_evict(struct vpmu *v);

/* Whether a WFI in VS would make a counter wrong now. If so, it must trap, and HS idles. */
static inline bool vpmu_wfi_must_trap(const struct vpmu *v)
{
	return (v->active & v->wfi) != 0;
}

/*
 * vpmu_note_wfi() reports whether each WFI of the guest traps, or none. Initially each traps, and
 * it must while vpmu_wfi_must_trap() is true. When that becomes true while none traps,
 * vpmu_port_trap_wfi() is called. vpmu_wfi_traps() returns the state after the last of these two
 * calls.
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
 * The hardware has failed to start or stop these hctrs since the vcpu became resident, or since the
 * last call. Counters that should run there are lost, and can be started again with a given value
 * only. Counters that were stopped there keep their values. Called before the guest runs again, or
 * after vpmu_save(); in the latter case, vpmu_restore() sets these counters again.
 */
void vpmu_handle_failed(struct vpmu *v, uint64_t hctrs);

#endif
