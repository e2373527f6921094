/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firmware events that vpmu/ does not count by itself: those that only M-mode sees, by differences
 * of the firmware's counters while the vcpu is resident, and Tally's own.
 */
#ifndef CORE_VM_VCPU_FW_H
#define CORE_VM_VCPU_FW_H

#include "arch/riscv/fw_events.h"
#include "core/lib/types.h"

struct vcpu;

struct vcpu_fw {
	uint32_t watched;            /* codes that somebody counts now ... */
	uint32_t observed;           /* ... and those of them that are observed */
	bool clock_observed;         /* so is what HS counts by instret; for who lends that */
	uint64_t total[FW_EVENTS_M]; /* without what happened since base was taken */
	uint64_t base[FW_EVENTS_M];  /* the firmware's count when the vcpu became resident */
	uint64_t lcofis, refusals;
	uint64_t steal_ticks, ready_since; /* 0: it does not wait for its turn */
	uint64_t cpu_ticks;                /* resident, without what was stolen meanwhile ... */
	uint64_t resident_since;           /* ... and without this time, while it still is */
};

/* Residence ends. */
static inline void vcpu_fw_resident_until(struct vcpu_fw *fw, uint64_t now)
{
	fw->cpu_ticks += now - fw->resident_since;
}

/* The codes that somebody counts now. Resident. */
void vcpu_fw_watch(struct vcpu *vcpu, uint32_t codes);

/* Around residence, where something is watched: else nothing is asked of the firmware. */
void vcpu_fw_load(struct vcpu *vcpu);
void vcpu_fw_put(struct vcpu *vcpu);

/* An event that M-mode would have seen if Tally had not taken the trap itself. */
void vcpu_fw_seen(struct vcpu *vcpu, uint32_t code);

/* SBI_PMU_FW_MISALIGNED_LOAD to ILLEGAL_INSN, or one of vpmu/tally_events.h. Resident. */
uint64_t vcpu_fw_total(const struct vcpu *vcpu, uint32_t code);

#endif
