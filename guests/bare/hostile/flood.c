/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All vcpus send requests to vcpu 1 as fast as possible, until ticks= are over or each has sent
 * sends=.
 *   what=ipi, fence_i, vma, asid   SBI calls; all: these four in turn
 *   what=start                     HSM: vcpu 1 is started, and stops itself
 *   what=plic                      its device interrupt is raised, and every fourth time lowered
 *   what=none                      the others are as busy, but send nothing
 *   peer=sleeps                    vcpu 1 waits in WFI, and no request wakes it
 *   peer=wakes                     it waits in WFI, takes the interrupt, and waits again
 *   peer=suspends                  the same with HSM's retentive suspend
 *   peer=spins                     the same, but it never waits
 *   peer=sends                     it sends the same to vcpu 0, until ticks= are over
 *   type=1, 2                      the guest resets at the end, without waiting for anybody
 * With what=all, vcpu 1 counts what it receives with firmware counters.
 */
#include "guests/bare/vcpu/smp.h"

#define PLIC          0x0c000000UL
#define PLIC_PRIORITY (*(volatile uint32_t *)(PLIC + 4 * UART_IRQ))
#define PLIC_ENABLE_1 (*(volatile uint32_t *)(PLIC + 0x2080))
#define UART_IER      (*(volatile uint8_t *)0x10000001)
#define UART_IRQ      10U
#define RECEIVED      4U

static volatile uint64_t wakeups, ready, over;
static uint64_t received[RECEIVED];

static long send_ipi(uint64_t to)
{
	return sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, to, 0, 0, 0, 0, 0).error;
}

static long fence(uint64_t to, uint64_t fid)
{
	return sbi_call(SBI_EXT_RFENCE, fid, to, 0, 0, 4096, 7, 0).error;
}

static void stop(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid;
	(void)self;
	wakeups++;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

/* Sends the n-th request to the vcpus in a mask. Returns not 0 if it was refused. */
static long send_one(uint64_t to, uint64_t n)
{
	if (bootarg_is("what", "ipi"))
		return send_ipi(to);
	if (bootarg_is("what", "fence_i"))
		return fence(to, SBI_RFENCE_FENCE_I);
	if (bootarg_is("what", "vma"))
		return fence(to, SBI_RFENCE_SFENCE_VMA);
	if (bootarg_is("what", "asid"))
		return fence(to, SBI_RFENCE_SFENCE_VMA_ASID);
	if (bootarg_is("what", "all"))
		return n % 4 == 3 ? send_ipi(to) : fence(to, n % 4);
	if (bootarg_is("what", "start"))
		return smp_start(1, stop);
	if (bootarg_is("what", "plic"))
		PLIC_ENABLE_1 = n % 4 == 3 ? 0 : BIT(UART_IRQ);
	return 0;
}

/* Sends at most `sends` requests, and returns how many. */
static uint64_t send(uint64_t to, uint64_t sends)
{
	uint64_t n = 0, refused = 0;

	while (n < sends && !time_is_up()) {
		/* An emulator whose harts take turns ends a turn where a timer is due. Seven has no
		 * factor in common with four: turns end before each kind of request. */
		if (n % 7 == 0)
			sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, csr_read(time) + 50, 0, 0, 0, 0,
			         0);
		refused += send_one(to, n++) != 0;
	}
	return n - refused;
}

static void woken(struct trap_frame *frame)
{
	wakeups++;
	if (frame->cause == CAUSE_SOFT)
		csr_clear(sip, IRQ_SOFT);
	else
		PLIC_ENABLE_1 = 0;
}

static void sleep(void)
{
	bool wakes = !bootarg_is("peer", "sleeps");

	irq_handle_by(woken);
	csr_write(sie, wakes ? IRQ_SOFT | IRQ_EXTERNAL : 0);
	csr_set(sstatus, SSTATUS_SIE);
	ready = 1;
	while (!over)
		if (bootarg_is("peer", "suspends"))
			hsm(SBI_HSM_HART_SUSPEND, SBI_HSM_SUSPEND_RETENTIVE, 0, 0);
		else if (!bootarg_is("peer", "spins"))
			__asm__ volatile("wfi");
}

static void count_what_comes(void)
{
	static const uint64_t codes[RECEIVED] = {
	    SBI_PMU_FW_IPI_RECEIVED, SBI_PMU_FW_FENCE_I_RECEIVED, SBI_PMU_FW_SFENCE_VMA_RECEIVED,
	    SBI_PMU_FW_SFENCE_VMA_ASID_RECEIVED};
	uint64_t fw = find_counters().fw, ctr[RECEIVED];

	for (unsigned i = 0; i < RECEIVED; i++) {
		ctr[i] = pmu_config(fw, 0, SBI_PMU_TYPE_FW << 16 | codes[i]).value;
		fw &= ~BIT(ctr[i]);
		pmu_start(BIT(ctr[i]), 0);
	}
	ready = 1;
	while (!over)
		;
	/* One more exit, after which everything on its way has arrived. */
	sbi_call(SBI_EXT_BASE, SBI_BASE_GET_IMP_ID, 0, 0, 0, 0, 0, 0);
	for (unsigned i = 0; i < RECEIVED; i++)
		received[i] = sbi_pmu(SBI_PMU_COUNTER_FW_READ, ctr[i], 0, 0, 0, 0).value;
}

static void peer(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid;
	if (bootarg_is("what", "all"))
		count_what_comes();
	else if (bootarg_is("peer", "sends"))
		send(1, ~0UL);
	else
		sleep();
	self->done = 1;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

static void sender(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid;
	while (!ready && !bootarg_is("peer", "sends"))
		;
	self->values[0] = send(2, bootarg_num("sends", ~0UL));
	self->done = 1;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

int flood(uint64_t hartid)
{
	uint64_t n = smp_count(), sent;

	(void)hartid;
	UART_IER = 2; /* the transmitter is always empty */
	PLIC_PRIORITY = 1;
	if (!bootarg_is("what", "start") && smp_start(1, peer))
		return 1;
	for (uint64_t i = 2; i < n; i++)
		smp_start(i, sender);
	while (!ready && !bootarg_is("peer", "sends") && !bootarg_is("what", "start"))
		;
	sent = send(2, bootarg_num("sends", ~0UL));
	if (bootarg("type"))
		sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, bootarg_num("type", 1), 0, 0, 0, 0, 0);
	for (uint64_t i = 2; i < n; i++) {
		while (!smp_vcpus[i].done)
			;
		sent += smp_vcpus[i].values[0];
	}
	over = 1;
	if (bootarg_is("what", "all")) {
		while (!smp_vcpus[1].done)
			;
		print("flood: received %u %u %u %u\n", received[0], received[1], received[2],
		      received[3]);
	}
	print("flood: sent %u, woken %u\n", sent, wakeups);
	return 0;
}
