/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statistics of a vcpu: steal time, CPU time, refusals, and the firmware events that vpmu/ does not
 * count itself: Tally's own, and those that only M-mode sees. For the latter, the firmware's
 * counters are read when the vcpu becomes resident and when it leaves.
 */
#ifndef CORE_VCPU_VCPU_STATS_H
#define CORE_VCPU_VCPU_STATS_H

#include "arch/riscv/counters/fw_events.h"
#include "arch/riscv/hart/csr.h"

struct vcpu;

struct vcpu_stats {
	/* Checked by vcpu_load() and vcpu_put() at once: not 0 if one of them is set. */
	union {
		struct {
			uint32_t fw_watched; /* codes of the M-mode events that are being counted */
			bool stays_traced;   /* its stays are recorded, see core/watch/stays.h */
		};
		uint64_t switch_hooks;
	};
	uint32_t fw_observed;           /* those in `fw_watched` that an observer counts */
	bool clock_observed;            /* an observer counts with instret while HS uses that */
	uint64_t fw_total[FW_EVENTS_M]; /* up to the last read of fw_base */
	uint64_t fw_base[FW_EVENTS_M];  /* the firmware's count when the vcpu became resident */
	uint64_t lcofis, refusals;
	/* Total steal time up to steal_since. That is part of the run state
	 * (core/vcpu/run_state.h): host time; 0: no steal time runs. It runs while the vcpu is
	 * ready and another one is resident, or HS works for another VM while it is resident
	 * itself. */
	uint64_t steal_ticks, steal_since;
	uint64_t left_at; /* host time at which it left its hart, blocked */
	/* Total time as resident vcpu, less the steal time in it. While the vcpu is resident, less
	 * the host time of its load as well, and so negative. One word, because other harts read it
	 * (docs/memory-order.md). */
	int64_t cpu_ticks;
};

static inline void vcpu_add_cpu_time(struct vcpu_stats *stats, uint64_t ticks)
{
	__atomic_store_n(&stats->cpu_ticks, (int64_t)((uint64_t)stats->cpu_ticks + ticks),
	                 __ATOMIC_RELAXED);
}

/* Begin and end the time as resident vcpu. */
static inline void vcpu_cpu_time_start(struct vcpu_stats *stats, uint64_t now)
{
	vcpu_add_cpu_time(stats, -now);
}

static inline void vcpu_cpu_time_stop(struct vcpu_stats *stats, uint64_t now)
{
	vcpu_add_cpu_time(stats, now);
}

/* Returns the vcpu's time as resident vcpu so far, and in *now the host time of that value. Any
 * hart may call it. */
static inline uint64_t vcpu_cpu_time(const struct vcpu_stats *stats, uint64_t *now)
{
	int64_t ticks;

	/* Repeated if the vcpu was loaded or put meanwhile. */
	do { /* WAITS */
		ticks = __atomic_load_n(&stats->cpu_ticks, __ATOMIC_RELAXED);
		*now = csr_read(CSR_TIME);
	} while (ticks != __atomic_load_n(&stats->cpu_ticks, __ATOMIC_RELAXED));
	return (uint64_t)ticks + (ticks < 0 ? *now : 0);
}

/* Sets the M-mode events to count from now on. The vcpu is resident. */
void vcpu_fw_watch(struct vcpu *vcpu, uint32_t codes);

/* Read the firmware's counts of these M-mode events: they count for the vcpu from now on, or did so
 * until now. Called for those that it watches when it becomes resident, and when it leaves the
 * hart. */
void vcpu_fw_load(struct vcpu *vcpu, uint32_t codes);
void vcpu_fw_put(struct vcpu *vcpu, uint32_t codes);

/* Counts an event that M-mode would have seen if Tally had not taken the trap itself. */
void vcpu_fw_count(struct vcpu *vcpu, uint32_t code);

/* Returns the total of SBI_PMU_FW_MISALIGNED_LOAD to ILLEGAL_INSN, or of one of
 * vpmu/tally_events.h. The vcpu is resident. */
uint64_t vcpu_fw_total(const struct vcpu *vcpu, uint32_t code);

#endif
