/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What platforms do that no manual says: all of it is here, by name, and probed at boot where
 * that is possible. The rest of the code does not know which machine it runs on.
 * docs/platform.md tells how each was found.
 */
#ifndef ARCH_QUIRKS_H
#define ARCH_QUIRKS_H

#include "core/lib/types.h"
#include "vpmu/sbi_pmu.h"

struct hpm;

struct quirks {
	/* QEMU: an event is counted on one programmable counter only, and a counter that changed
	 * its event by a delegated write goes on counting the old one. Each event then has one
	 * home counter for ever. Probed; assumed of delegated ones where no event has two. */
	bool home_counters;
	/* QEMU before 11 under -icount: a TLB-miss counter that wraps with OF = 0 ends the
	 * emulator. No guest may do that: such counters are never armed. Not probed (the probe
	 * would be the end); assumed where the host tree says "riscv-virtio". */
	bool no_armed_cache_events;
	/* QEMU without Ssccfg: the guest reads the hart's own scountovf. Known by CDE. */
	bool scountovf_leaks;
	/* QEMU under -icount: what follows WFI in its block is counted twice. Probed. */
	bool wfi_recounts;
	/* QEMU: a guest's write to sie does not deliver the LCOFI that it unmasks; the
	 * next entry does. Where hvictl.VTI makes such writes trap, and changes nothing else as it
	 * would on a hart that keeps to the AIA, Tally makes the write. Probed, both of it. */
	bool late_unmask;
	/* Debian's QEMU 10.0.13: bit 13 of sie and hvien cannot be set, no LCOFI. Probed. */
	bool no_lcofi;
	/* QEMU under -icount: a fetch that faults takes no time, so a guest whose trap handler is
	 * not mapped would stop the clock, and with it everybody. Its fetch page faults have to
	 * come to HS. Not probed (as above); assumed where the host tree says "riscv-virtio". */
	bool fetch_faults_stop_time;
	/* QEMU: while a virtual LCOFI pends (bit 13 of hvip), the guest's load page faults (cause
	 * 13) go to it, whatever hedeleg says. A suspect of core/vm/trap_loop.h has none that
	 * pends. Not probed, assumed as above. */
	bool lcofi_delegates;
};

extern struct quirks quirks;

/* May an event's counter be started with OF = 0? */
static inline bool quirk_may_arm(uint32_t event_idx)
{
	return !(quirks.no_armed_cache_events &&
	         SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_CACHE);
}

/*
 * Does the second of two counters stand still when both count one event? Both are programmable,
 * can count it and hold nothing; they hold nothing afterwards.
 */
bool quirk_one_counter_per_event(uint32_t event_idx, uint32_t hctr_a, uint32_t hctr_b);

/* Does instret go on by more than one over a WFI that has nothing to wait for? */
bool quirk_wfi_recounts(void);
/* Finds out about late_unmask, on a hart whose hvien.13 is set. At boot, sie is 0. */
void quirk_probe_unmask(void);

/*
 * Sets bits of sie in VS-mode, and then sstatus.SIE for one instruction, with vsie, hvip and hvictl
 * as given; on: SSTATUS_SIE, if it is set from the beginning, or 0. Is an interrupt taken before
 * SIE is cleared? At boot, sie is 0.
 */
bool vs_probe(uint64_t vsie, uint64_t hvip, uint64_t hvictl, uint64_t set, uint64_t on);

/* Writes names of those that were found to buf, blank-separated; "none" if there are none. */
void quirks_text(char *buf, size_t size);

#endif
