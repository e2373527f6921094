/* SPDX-License-Identifier: Apache-2.0 */
/* A guest that ends in the middle of sampling, and one that checks that nothing of it is left. */
#include "guests/sampling/sampling.h"

static uint64_t interrupts;

static void on_overflow(struct trap_frame *f)
{
	(void)f;
	interrupts++;
	csr_clear(sip, IRQ_LCOFI);
}

/* how=shutdown, restart: ends with a counter a few instructions from its wrap; pending: with a
 * pending LCOFI as well. flags=yes: prints scountovf before anything else. */
int armed(void)
{
	uint32_t a = configure(hw_counters(), 0, EVENT_CYCLES);
	uint32_t b = configure(hw_counters() & ~BIT(a), SINH, EVENT_INSTRUCTIONS);
	uint64_t ticks = bootarg_num("ticks", 1000), since = csr_read(time);

	if (bootarg_is("flags", "yes"))
		print("armed: flags 0x%x\n", csr_read(CSR_SCOUNTOVF));
	for (uint64_t now = since; now - since < ticks; now = csr_read(time))
		for (volatile int i = 0; i < 1000; i++)
			;
	pmu_start(BIT(b), -2UL);
	if (bootarg_is("pending", "yes")) {
		user_run(user_code, 1, 0);
		print("armed: LCOFIP %u\n", csr_read(sip) >> 13 & 1);
	}
	csr_set(sie, IRQ_LCOFI);
	pmu_start(BIT(a), -bootarg_num("left", 20));
	if (bootarg_is("how", "restart"))
		sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, SBI_SRST_COLD_REBOOT, 0, 0, 0, 0, 0);
	sbi_shutdown(SBI_SRST_REASON_NONE);
}

/* Whether scountovf, if it can be read, ever changes because of other guests. */
int leaks(void)
{
	uint64_t ticks = bootarg_num("ticks", 100000), since = csr_read(time), first, changes = 0;

	trap_guard();
	first = csr_read(CSR_SCOUNTOVF);
	if (trap_unguard().count) {
		print("leaks: illegal instruction\n");
		return 0;
	}
	for (uint64_t now = since; now - since < ticks; now = csr_read(time))
		for (int i = 0; i < 100; i++)
			changes += csr_read(CSR_SCOUNTOVF) != first;
	print("leaks: 0x%x, %u changes\n", first, changes);
	return changes != 0;
}

/*
 * Waits with interrupts on: with stopped counters, then with one that runs far from its wrap. Then
 * takes samples of its own.
 */
int watch(void)
{
	uint32_t a = configure(hw_counters(), 0, EVENT_CYCLES);
	uint32_t b = configure(hw_counters() & ~BIT(a), SINH, EVENT_INSTRUCTIONS);
	uint64_t ticks = bootarg_num("ticks", 100000), since = csr_read(time), odd = 0, looks = 0;

	irq_handle_by(on_overflow);
	csr_set(sie, IRQ_LCOFI);
	csr_set(sstatus, SSTATUS_SIE);
	for (uint64_t now = since; now - since < ticks; now = csr_read(time)) {
		bool runs = looks++ & 1;

		if (runs)
			pmu_start(BIT(b), 0);
		user_run(user_code, 50000, 0);
		if (runs)
			pmu_stop(BIT(b));
		odd += counter_read(a) || counter_read(b) != (looks > 1 ? 100001 : 0);
		odd += own_flags(csr_read(CSR_SCOUNTOVF), BIT(a) | BIT(b)) || interrupts;
	}
	odd += looks < 10;
	for (unsigned i = 0; i < 100; i++) {
		pmu_start(BIT(b), -1000UL);
		user_run(user_code, 1000, 0);
		odd += interrupts != i + 1 || counter_read(b) != 1001;
		pmu_stop(BIT(b));
	}
	print("watch: ends, %u odd\n", odd);
	return odd != 0;
}
