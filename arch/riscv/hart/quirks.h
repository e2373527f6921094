/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Behaviour of platforms that is in no manual. Each kind has a name here, and is probed at boot if
 * possible. Other code does not depend on the machine. docs/platform.md says how each was found.
 */
#ifndef ARCH_RISCV_HART_QUIRKS_H
#define ARCH_RISCV_HART_QUIRKS_H

#include "core/lib/types.h"
#include "vpmu/sbi_pmu.h"

struct quirks {
	/* QEMU: only one programmable counter counts an event, and a counter whose event was
	 * changed by a delegated write continues to count the old event. So each event has one
	 * permanent home counter. Probed; assumed for delegated counters if no event can use
	 * two. */
	bool home_counters;
	/* QEMU with -icount: a TLB-miss counter that wraps with OF = 0 ends the emulator. A guest
	 * must not be able to do that, so such counters are never armed. Not probed, because the
	 * probe would end the emulator: see quirks_believe_qemu(). */
	bool no_armed_cache_events;
	/* QEMU before 11 without Ssccfg: a guest reads bits of the hart's own scountovf that
	 * hcounteren closes. If they are not hidden, OF is kept 1 for all counters except those of
	 * a vcpu that is alone on its hart. Probed: hpm->flags_hidden. */
	bool scountovf_leaks;
	/* QEMU with -icount: the instructions after WFI in its translation block are counted twice.
	 * Probed. */
	bool wfi_recounts;
	/* QEMU: if a WFI that traps ends its page, or crosses into the next, sepc is one page too
	 * high. WRS.NTO is not affected. Probed. */
	bool wfi_pc_at_page_end;
	/* QEMU before 11: with Svadu the hart sets A and D in a guest's page table even if the
	 * G-stage maps it read-only. While a vcpu of a VM with such memory is resident,
	 * henvcfg.ADUE is 0 (vcpu_registers.c). Probed. */
	bool ad_past_gstage;
	/* QEMU: a guest's write to sie does not deliver the LCOFI that it unmasks; only the next
	 * entry does. If hvictl.VTI makes such writes trap, and does not block other interrupts of
	 * the guest (the AIA allows it to), Tally does the write. Both are probed. */
	bool late_unmask;
	/* Debian's QEMU 10.0.13: bit 13 of sie and hvien cannot be set, so there is no LCOFI.
	 * Probed. */
	bool no_lcofi;
	/* QEMU with -icount: a faulting fetch takes no time. A guest whose trap handler is not
	 * mapped would stop the clock of the whole machine, so its fetch page faults must come to
	 * HS. Not probed, because the probe would not end: see quirks_believe_qemu(). */
	bool fetch_faults_stop_time;
	/* QEMU: while a virtual LCOFI is pending (bit 13 of hvip), the guest's load page faults
	 * (cause 13) go to the guest, whatever hedeleg says. So a suspect of core/vcpu/trap_loop.h
	 * must have none pending. Not probed: see quirks_believe_qemu(). */
	bool lcofi_delegates;
};

extern struct quirks quirks;

/* Sets the quirks that only QEMU has and that cannot be probed. Called when a probe finds another
 * quirk that only QEMU has: home_counters, or wfi_pc_at_page_end, which needs no counter. */
void quirks_believe_qemu(void);

/* Whether an event's counter may be started with OF = 0. */
static inline bool quirk_may_arm(uint32_t event_idx)
{
	return !(quirks.no_armed_cache_events &&
	         SBI_PMU_EVENT_TYPE(event_idx) == SBI_PMU_TYPE_CACHE);
}

/* QEMU: whether the hart counts an event of its own for this selector, whatever its bits above the
 * low 20 are: cycles, instructions, and TLB misses of loads, stores and fetches. */
static inline bool quirk_counts_selector(uint64_t selector)
{
	uint64_t low = selector & 0xfffff;

	return low == 1 || low == 2 || low == 0x10019 || low == 0x1001b || low == 0x10021;
}

/* Whether WFI that need not wait advances instret by more than one. */
bool quirk_wfi_recounts(void);
/* Sets quirks.wfi_pc_at_page_end if this hart has it, and quirks that follow. At boot; sie is 0. */
void quirk_probe_wfi_pc(void);
/* Whether VSTIP is pending although hvip is 0: if menvcfg.STCE is 0, QEMU 10.0.2 still compares
 * vstimecmp, which HS cannot write then. Sets vstimecmp to never if possible. For harts whose Sstc
 * cannot be used, at boot. */
bool quirk_vs_timer_pends(void);
/* Sets quirks.ad_past_gstage if this hart has it. Returns false if the hart has it even with
 * henvcfg.ADUE = 0, or cannot be probed: then nothing protects read-only memory of VMs. At boot,
 * one hart at a time; sie is 0, and henvcfg is set up. */
bool quirk_probe_ad(void);
/* Sets quirks.late_unmask, on a hart whose hvien.13 is set. At boot; sie is 0. */
void quirk_probe_unmask(void);

/*
 * Sets bits of sie and then sstatus.SIE for one instruction in VS-mode, with these values of vsie,
 * hvip and hvictl. `on` is the initial value of sstatus: SSTATUS_SIE or 0. Returns whether an
 * interrupt is taken before SIE is cleared. At boot; sie is 0.
 */
bool vs_probe(uint64_t vsie, uint64_t hvip, uint64_t hvictl, uint64_t set, uint64_t on);

/*
 * Runs code in VS-mode, translated by vsatp and hgatp, up to its first trap; `address` is in a1.
 * WFI traps. Returns scause, and the value that the code left in a1. sepc is that of the trap, and
 * vsatp and hgatp are 0. At boot; sie is 0.
 */
struct vs_end {
	uint64_t scause, a1;
};
struct vs_end vs_run(uint64_t pc, uint64_t address, uint64_t vsatp, uint64_t hgatp);

/* Writes the names of the quirks that were found, separated by spaces, or "none". */
void quirks_text(char *buf, size_t size);

#endif
