/* SPDX-License-Identifier: Apache-2.0 */
#include "core/boot/harts.h"

#include "arch/riscv/csr.h"
#include "arch/riscv/fence.h"
#include "arch/riscv/sbi.h"
#include "core/boot/boot_report.h"
#include "core/log.h"
#include "core/panic.h"
#include "core/vm/pcpu.h"
#include "core/vm/platform.h"
#include "core/vm/sched_parts.h"

/* Seconds that each hart may take to start, and to probe its counters. */
#define TO_COME  1U
#define TO_READY 10U
/* How often the boot hart looks whether another one is ready. In between it rests, so that it takes
 * nothing from harts with which it shares a core, or an emulator. */
#define LOOKS_HZ 10000U

/*
 * Who sets `taken` first owns the stack with this index: the hart when it starts, or the boot hart
 * when it gives up waiting. entry.S knows the offsets of both members.
 */
struct hart_start {
	_Atomic(uint32_t) taken;
	uint32_t index;
};
_Static_assert(sizeof(struct hart_start) == 8, "entry.S");

void secondary_hart(void);

static uint64_t after(uint32_t seconds)
{
	return csr_read(CSR_TIME) + (uint64_t)platform.timebase * seconds;
}

/* Sends an IPI to the calling hart itself. Interrupts are off. Returns what is wrong, NULL:
 * nothing. */
static const char *try_ipi(uint64_t hartid)
{
	uint64_t end = after(TO_COME);
	bool came = false;

	fence_memory_then_output();
	if (sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, hartid, 0, 0, 0).error)
		return "the firmware sends no IPIs";
	while (!came && csr_read(CSR_TIME) < end)
		came = csr_read(CSR_SIP) & BIT(IRQ_SSI);
	pcpu_ack_ipi();
	return came ? NULL : "the firmware's IPIs do not come";
}

/* Interrupts are off: a pending one ends WFI and is not taken. */
static void rest(void)
{
	sched_set_host_timer(this_pcpu(), csr_read(CSR_TIME) + platform.timebase / LOOKS_HZ);
	wfi();
	sched_set_host_timer(this_pcpu(), ~0UL);
}

static bool comes(struct hart_start *start)
{
	uint64_t end = after(TO_COME);

	while (csr_read(CSR_TIME) < end) {
		if (atomic_load(&start->taken))
			return true;
		rest();
	}
	return atomic_exchange(&start->taken, 1) != 0;
}

/* Starts a hart as the next pcpu. Returns why it cannot be used, NULL: it can. */
static const char *start_hart(uint32_t i)
{
	static struct hart_start starts[MAX_HARTS];
	struct pcpu *pcpu = &hart_stacks[n_pcpus].pcpu;
	struct hart_start *start = &starts[i];
	uint64_t end;

	pcpu->isa = platform.harts[i].isa;
	pcpu->blocks = platform.harts[i].blocks;
	start->index = n_pcpus;
	fence_memory_then_output();
	if (sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, platform.harts[i].hartid,
	             (uint64_t)secondary_hart, (uint64_t)start, 0, 0)
	        .error)
		return "the firmware refuses to start it";
	if (!comes(start))
		return "the firmware says that it started it, and it does not come";
	end = after(TO_READY);
	while (!atomic_load(&pcpu->online)) {
		if (csr_read(CSR_TIME) >= end)
			platform_lacks("hart %lu came and does not get ready",
			               platform.harts[i].hartid);
		rest();
	}
	n_pcpus++;
	return NULL;
}

/* The harts start one after the other, because each probes its own counters through the firmware
 * (docs/memory-order.md, "Boot"). */
void harts_start(uint64_t boot_hartid, uint32_t most)
{
	const char *no_ipi = platform.n_harts > 1 ? try_ipi(boot_hartid) : NULL;

	n_pcpus = 1;
	for (uint32_t i = 0; i < platform.n_harts && n_pcpus < most; i++) {
		const char *why = no_ipi;

		if (platform.harts[i].hartid == boot_hartid || !boot_report_usable(i))
			continue;
		if (!why)
			why = start_hart(i);
		if (why)
			log_line("hart %lu: not used: %s", platform.harts[i].hartid, why);
	}
}
