/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/steps.h"

#include "arch/riscv/counters/hpm_exact.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/fence.h"
#include "arch/riscv/hart/sbi.h"
#include "core/hart/pcpu.h"
#include "core/hart/platform.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/sched/sched_parts.h"

/* Maximum times, in seconds, for a hart to start, and to probe its counters. */
#define TO_COME  1U
#define TO_READY 10U
/* How often the boot hart checks whether another one is ready. In between it sleeps, because it may
 * share a core or an emulator with the other hart. */
#define LOOKS_HZ 10000U

/*
 * The first hart that sets `taken` owns the stack with this index: the hart when it starts, or the
 * boot hart when it gives up waiting. entry.S knows the offsets of both members.
 */
struct hart_start {
	_Atomic(uint32_t) taken;
	uint32_t index;
};
_Static_assert(sizeof(struct hart_start) == 8, "entry.S");

void secondary_hart(void);

static uint64_t turns_end;

static uint64_t after(uint32_t seconds)
{
	return csr_read(CSR_TIME) + (uint64_t)platform.timebase * seconds;
}

static long send_ipi(uint64_t hartid)
{
	return sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, hartid, 0, 0, 0).error;
}

/* Sends an IPI to the calling hart itself. Interrupts are off. Returns the error in words, or
 * NULL. */
static const char *try_ipi(uint64_t hartid)
{
	uint64_t end = after(TO_COME);
	bool came = false;

	fence_memory_then_output();
	if (send_ipi(hartid))
		return "the firmware sends no IPIs";
	while (!came && csr_read(CSR_TIME) < end) /* WAITS */
		came = csr_read(CSR_SIP) & BIT(IRQ_SSI);
	pcpu_ack_ipi();
	return came ? NULL : "the firmware's IPIs do not come";
}

/* An emulator that runs one hart at a time switches to another one when a hart sets a timer that is
 * earlier than the timers of all harts. So each turn sets an earlier timer than the last. None
 * expires. */
static void pass_turn(uint32_t turn)
{
	sched_set_host_timer(this_pcpu(), turns_end - turn);
}

/* Interrupts are off: a pending one ends WFI but is not taken. */
static void rest(void)
{
	sched_set_host_timer(this_pcpu(), csr_read(CSR_TIME) + platform.timebase / LOOKS_HZ);
	wfi();
	pcpu_ack_ipi();
	sched_set_host_timer(this_pcpu(), ~0UL);
}

static bool comes(struct hart_start *start)
{
	uint64_t end = after(TO_COME);

	while (csr_read(CSR_TIME) < end) { /* WAITS */
		if (atomic_load(&start->taken))
			return true;
		rest();
	}
	return atomic_exchange(&start->taken, 1) != 0;
}

static void take_turns(atomic_uint *turn, uint32_t me, uint32_t harts)
{
	if (!me)
		turns_end = csr_read(CSR_TIME) + platform.timebase / LOOKS_HZ;
	(void)hpm_exact_check_hs(&this_pcpu()->hpm, turn, me, harts, pass_turn);
	sched_set_host_timer(this_pcpu(), ~0UL);
}

void harts_join(struct pcpu *pcpu)
{
	/* A hart that counts wrong when it runs alone needs no further probe. */
	if (!pcpu->hpm.inexact.where) {
		atomic_store(&pcpu->boot_state, PCPU_PROBED);
		/* Each hart wakes the other, so that neither waits long for its turn. */
		fence_memory_then_output();
		(void)send_ipi(hart_stacks[0].pcpu.hartid);
		rest();
		take_turns(&pcpu->boot_turn, 1, 2);
	}
	hpm_exact_settle(&pcpu->hpm, platform.inexact);
	atomic_store(&pcpu->boot_state, PCPU_ONLINE);
}

/* Waits until the hart has reached this stage. */
static void wait_for(struct pcpu *pcpu, uint32_t stage, uint64_t hartid)
{
	uint64_t end = after(TO_READY);

	while (atomic_load(&pcpu->boot_state) < stage) { /* WAITS */
		if (csr_read(CSR_TIME) >= end)
			platform_lacks("hart %lu came and does not get ready", hartid);
		rest();
	}
}

/* Starts a hart as the next pcpu. Returns why it cannot be used, or NULL if it can. */
static const char *start_hart(const struct platform_hart *hart)
{
	static struct hart_start starts[MAX_HARTS];
	struct pcpu *pcpu = &hart_stacks[n_pcpus].pcpu;
	struct hart_start *start = &starts[hart - platform.harts];

	pcpu->listed = hart;
	start->index = n_pcpus;
	fence_memory_then_output();
	if (sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, hart->hartid, (uint64_t)secondary_hart,
	             (uint64_t)start, 0, 0)
	        .error)
		return "the firmware refuses to start it";
	if (!comes(start))
		return "the firmware says that it started it, and it does not come";
	wait_for(pcpu, PCPU_PROBED, hart->hartid);
	if (atomic_load(&pcpu->boot_state) == PCPU_LEFT) {
		/* Logged now, because the next hart gets its pcpu. */
		boot_report_missing(pcpu);
		atomic_store(&pcpu->boot_state, 0);
		return pcpu->unfit_reason;
	}
	if (atomic_load(&pcpu->boot_state) == PCPU_PROBED) {
		(void)send_ipi(pcpu->hartid);
		take_turns(&pcpu->boot_turn, 0, 2);
	}
	wait_for(pcpu, PCPU_ONLINE, hart->hartid);
	n_pcpus++;
	return NULL;
}

/* The harts start one after the other, because each probes its own counters through the firmware
 * (docs/memory-order.md, "Boot"). */
void harts_start(uint64_t boot_hartid, uint32_t most)
{
	const char *no_ipi = platform.n_harts > 1 ? try_ipi(boot_hartid) : NULL;

	/* With the boot hart alone: checks the lengths of the sequences themselves. */
	if (platform.n_harts > 1)
		take_turns(&this_pcpu()->boot_turn, 0, 1);
	n_pcpus = 1;
	for (uint32_t i = 0; i < platform.n_harts && n_pcpus < most; i++) {
		struct platform_hart *hart = &platform.harts[i];

		if (hart->hartid == boot_hartid)
			continue;
		hart->unused = hart_unusable(hart->hartid, hart->isa);
		if (!hart->unused)
			hart->unused = no_ipi ? no_ipi : start_hart(hart);
		if (hart->unused)
			log_line("hart %lu: not used: %s", hart->hartid, hart->unused);
	}
	hpm_exact_settle(&this_pcpu()->hpm, platform.inexact);
}
