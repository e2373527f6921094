/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Like storm, but with all of what a call may concern at once: counters that share events and are
 * about to wrap, snapshots, the longest lists, sleeping vcpus of the same VM, and timers of all
 * vcpus for the same tick. only=NAME: one part.
 */
#include "guests/bare/vcpu/smp.h"

#define ROUNDS 12U
#define TAKE   SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT
#define BOTH   (TAKE | SBI_PMU_STOP_FLAG_RESET)

static uint8_t areas[SMP_MAX][4096] __attribute__((aligned(4096)));
static struct {
	uint32_t event, output;
	uint64_t data;
} list[1024] __attribute__((aligned(4096)));
static volatile uint64_t interrupts;

static void on_interrupt(struct trap_frame *frame)
{
	interrupts++;
	if (frame->cause == CAUSE_SOFT)
		csr_clear(sip, IRQ_SOFT);
	else if (frame->cause == CAUSE_TIMER)
		sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
	else
		csr_clear(sip, IRQ_LCOFI);
}

static void set_area(uint64_t hartid)
{
	sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, (unsigned long)areas[hartid], 0, 0, 0, 0);
}

/* Gives each counter an event. kind 0: all the same; 1: two by turns; 2: as many as there are.
 * Returns those that have one. */
static uint64_t configure(uint64_t kind, bool with_fw)
{
	static const uint64_t events[] = {EVENT_INSTRUCTIONS, EVENT_CYCLES, 0x10019, 0x1001b,
	                                  0x10021};
	struct counters c = find_counters();
	uint64_t mine = 0, n = 0, left;

	for (left = c.hw | 5; left; left &= left - 1, n++) {
		uint64_t event = events[kind == 2 ? n % 5 : n % (kind + 1)];
		uint64_t flags = n % 3 == 1 ? SBI_PMU_CFG_FLAG_SET_UINH : 0;
		struct sbiret r = pmu_config(left & -left, kind ? flags : 0, event);

		mine |= r.error ? 0 : BIT(r.value);
	}
	for (left = with_fw ? c.fw : 0, n = 0; left; left &= left - 1, n++) {
		struct sbiret r = pmu_config(left & -left, 0, 0xf0000 + n % 22);

		mine |= r.error ? 0 : BIT(r.value);
	}
	return mine;
}

static void fill(uint64_t hartid, uint64_t step)
{
	volatile uint64_t *values = (volatile uint64_t *)areas[hartid];

	for (uint64_t i = 0; i < 64; i++)
		values[1 + i] = -(i * step + 1);
}

/* Snapshots of all counters, whose overflows are due in the call. */
static void snapshots(uint64_t hartid)
{
	set_area(hartid);
	for (uint64_t n = 0; n < ROUNDS; n++) {
		uint64_t mine = configure(n % 3, n & 4);

		fill(hartid, n * 3);
		sbi_pmu(SBI_PMU_COUNTER_START, 0, mine, SBI_PMU_START_FLAG_INIT_SNAPSHOT, 0, 0);
		sbi_pmu(SBI_PMU_COUNTER_STOP, 0, mine, TAKE, 0, 0);
		sbi_pmu(SBI_PMU_COUNTER_START, 0, mine, SBI_PMU_START_FLAG_INIT_SNAPSHOT, 0, 0);
		csr_set(sstatus, SSTATUS_SIE);
		csr_clear(sstatus, SSTATUS_SIE);
		sbi_pmu(SBI_PMU_COUNTER_STOP, 0, mine, TAKE, 0, 0);
		pmu_start(mine, -1UL);
		sbi_pmu(SBI_PMU_COUNTER_STOP, 0, mine, BOTH, 0, 0);
	}
	sbi_pmu(SBI_PMU_COUNTER_STOP, 0, 0, TAKE, 0, 0);
}

/* Starts and stops of counters that share one event, beside one of them that runs, or not. */
static void sharers(uint64_t hartid)
{
	(void)hartid;
	for (uint64_t n = 0; n < 8; n++) {
		uint64_t mine = configure(n & 1, n & 4), one = mine & -mine;

		for (uint64_t value = n & 2 ? -1UL : -3000UL; value;
		     value += value & 1 ? 1 : 3000) {
			pmu_start(one, -5000UL);
			pmu_start(mine & ~one, value);
			pmu_stop(mine & ~one);
			pmu_start(mine, value);
			pmu_stop(mine);
			pmu_start(mine, value);
		}
		pmu_reset(mine);
	}
}

static void infos(uint64_t hartid)
{
	static const uint64_t kinds[] = {1, 0x10019, 0x20000, 0x30000, 0xf0000, 0xf0020, 0xfffff};

	(void)hartid;
	for (uint64_t n = 0; n < 8; n++) {
		for (uint64_t i = 0; i < 1024; i++) {
			list[i].event = (uint32_t)kinds[n < 7 ? n : i % 7] + (n == 7 ? 0 : i % 22);
			list[i].data = i * 0x0101010101UL;
		}
		sbi_pmu(SBI_PMU_EVENT_GET_INFO, (unsigned long)list, 0, 1024, 0, 0);
		sbi_pmu(SBI_PMU_EVENT_GET_INFO, (unsigned long)(list + 255), 0, 2, 0, 0);
	}
}

/* Each call of a start has counters that move, and whose events another counter gets. */
static void moves(uint64_t hartid)
{
	struct counters c = find_counters();

	(void)hartid;
	for (uint64_t n = 0; n < ROUNDS; n++) {
		uint64_t mine = configure(n % 3, false);

		pmu_start(mine, -(n * 50 + 200));
		for (uint64_t left = c.hw; left; left &= left - 1) {
			pmu_config(left, SBI_PMU_CFG_FLAG_CLEAR_VALUE | SBI_PMU_CFG_FLAG_AUTO_START,
			           0x10021);
			pmu_config(c.hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_CYCLES);
			pmu_config(left & -left,
			           SBI_PMU_CFG_FLAG_SKIP_MATCH | SBI_PMU_CFG_FLAG_AUTO_START |
			               SBI_PMU_CFG_FLAG_CLEAR_VALUE,
			           EVENT_CYCLES);
		}
		pmu_reset(c.hw | 5);
	}
}

/* Sleeps as the calls that are sent to it find it, for as long as vcpu 0 has not ended. */
static volatile uint64_t mode, ended;
static volatile uint64_t meeting;

static void sleeper(uint64_t hartid, struct smp_vcpu *self)
{
	uint64_t mine = mode & 1 ? configure(mode >> 1 & 1, true) : 0;

	(void)self;
	set_area(hartid);
	csr_set(sie, IRQ_SOFT | IRQ_TIMER | IRQ_LCOFI);
	if (mode & 1)
		pmu_start(mine, mode & 8 ? -3000UL : 1);
	while (!ended) {
		if (mode & 4 && meeting > csr_read(time))
			sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, meeting, 0, 0, 0, 0, 0);
		if (mode & 16)
			hsm(SBI_HSM_HART_SUSPEND, 0, 0, 0);
		else
			__asm__ volatile("wfi");
		csr_clear(sip, IRQ_SOFT | IRQ_LCOFI);
		if (mode & 4 && meeting <= csr_read(time))
			sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
	}
	/* Left to the call: all counters, and their overflows. */
	if (mode & 1)
		pmu_start(mine, -1UL);
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

static void sleepers(uint64_t hartid)
{
	uint64_t n = smp_count();

	for (mode = 0; mode < 32; mode++) {
		uint64_t mine = mode & 1 ? configure(mode >> 1 & 1, true) : 0;

		ended = 0;
		meeting = 0;
		if (mode & 1)
			pmu_start(mine, mode & 8 ? -3000UL : 1);
		for (uint64_t i = 0; i < n; i++)
			if (i != hartid)
				smp_start(i, sleeper);
		for (uint64_t i = 0; i < 4; i++) {
			/* The same tick in all VMs that began together. */
			meeting = (csr_read(time) / 2000 + 2) * 2000;
			sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 0, ~0UL, 0, 0, 0, 0);
			csr_clear(sip, IRQ_SOFT);
			sbi_call(SBI_EXT_RFENCE, i % 3, 0, ~0UL, 0, ~0UL, 7, 0);
			sleep_for(500);
			sbi_call(SBI_EXT_RFENCE, i % 3, 0, ~0UL, 0, ~0UL, 7, 0);
			sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 0, ~0UL, 0, 0, 0, 0);
			csr_clear(sip, IRQ_SOFT);
			if (meeting > csr_read(time))
				sleep_for(meeting - csr_read(time));
		}
		ended = 1;
		sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 0, ~0UL, 0, 0, 0, 0);
		csr_clear(sip, IRQ_SOFT);
		for (uint64_t i = 0; i < n; i++)
			if (i != hartid)
				smp_await_state(i, SBI_HSM_STATE_STOPPED);
		pmu_reset(~0UL);
		pmu_reset(find_counters().hw | find_counters().fw | 5);
	}
}

/* Faults, one page after the other, and accesses that no emulation takes. */
static void faults_everywhere(uint64_t hartid)
{
	(void)hartid;
	trap_guard();
	for (uint64_t i = 0; i < 400; i++) {
		(void)*(volatile uint64_t *)(0x40000000UL + (i << 12));
		(void)*(volatile uint32_t *)(0x10000001UL + i % 8);
		*(volatile uint16_t *)(0x0c000001UL + i * 4096) = 1;
		*(volatile uint64_t *)(0x0c200000UL + i * 8) = ~0UL;
		(void)*(volatile uint64_t *)(0x30000000UL + i * 2048 + i % 8);
		*(volatile uint64_t *)(0x80000000UL + (i << 30)) = 0;
	}
	(void)trap_unguard();
}

static const struct {
	const char *name;
	void (*run)(uint64_t hartid);
} parts[] = {{"snapshots", snapshots}, {"sharers", sharers},   {"infos", infos},
             {"moves", moves},         {"sleepers", sleepers}, {"faults", faults_everywhere}};

int siege(uint64_t hartid)
{
	irq_handle_by(on_interrupt);
	csr_set(sie, IRQ_LCOFI);
	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (bootarg("only") && !bootarg_is("only", parts[i].name))
			continue;
		parts[i].run(hartid);
		print("siege: %s done\n", parts[i].name);
	}
	return 0;
}
