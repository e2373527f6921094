/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that checks whether anything is left of a former life, leaves as much as it can, and asks
 * for a restart. Each life prints one line.
 *   type=1, 2     cold or warm reboot; 0: shuts down
 *   reason=1      reset reason
 *   spin=N        rounds of a loop before the end
 */
#include "guests/bare/bare.h"

#define RAM_BASE 0x80000000UL
#define RAM_END  0x80ff0000UL /* the device tree is there */
#define IMAGE    0x80200000UL
#define SNAPSHOT 0x80e00000UL
#define FAR      0x8000000000000001UL

extern char image_end[];

/* Each life must find it as it is in the image. */
static uint64_t fresh = 1;

static uint64_t not_zero(uint64_t from, uint64_t to)
{
	uint64_t found = 0;

	for (const uint64_t *p = (const uint64_t *)from; p < (const uint64_t *)to; p++)
		found += *p != 0;
	return found;
}

static void fill(uint64_t from, uint64_t to)
{
	for (uint64_t *p = (uint64_t *)from; p < (uint64_t *)to; p++)
		*p = 0x5ec2e75ec2e75ec3;
}

/* Returns the counters whose CSR can be read. None may be, because none is configured. */
static uint64_t readable(void)
{
	uint64_t found = 0;

	for (uint32_t ctr = 0; ctr < 32; ctr++) {
		if (ctr == CSR_TIME - CSR_CYCLE)
			continue;
		trap_guard();
		insn_run(INSN_CSRR_A0(CSR_CYCLE + ctr), 0);
		found += trap_unguard().cause == ~0UL;
	}
	return found;
}

/* Returns what a former life has left in the PMU, one bit for each kind. */
static uint64_t pmu_left(struct counters c)
{
	uint64_t left = 0;
	struct sbiret r;

	left |= readable() ? 1 : 0;
	left |= insn_run(INSN_CSRR_A0(CSR_SCOUNTOVF), 0) ? 2 : 0;
	left |= csr_read(sip) & IRQ_LCOFI ? 4 : 0;
	for (uint64_t i = 0; i < 64; i++) {
		if (!(c.fw & BIT(i)))
			continue;
		r = sbi_pmu(SBI_PMU_COUNTER_FW_READ, i, 0, 0, 0, 0);
		left |= r.error != SBI_ERR_INVALID_PARAM ? 8 : 0;
		/* Configured, it shows the value that was kept. */
		pmu_config(BIT(i), 0, 0xf0005);
		r = sbi_pmu(SBI_PMU_COUNTER_FW_READ, i, 0, 0, 0, 0);
		left |= r.error || r.value ? 8 : 0;
		pmu_reset(BIT(i));
	}
	/* A start without a value continues from the kept value, which is 0. */
	r = pmu_config(c.hw, SBI_PMU_CFG_FLAG_SET_SINH, EVENT_INSTRUCTIONS);
	left |= r.error || counter_read((uint32_t)r.value) ? 16 : 0;
	/* No shared memory was set, or snapshots are not supported: NO_SHMEM in either case. */
	left |= sbi_pmu(SBI_PMU_COUNTER_STOP, r.value, 1, SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT, 0, 0)
	                    .error != SBI_ERR_NO_SHMEM
	            ? 32
	            : 0;
	pmu_reset(BIT(r.value));
	return left;
}

/* Leaves a counter that has wrapped, one that is about to, a firmware counter, and a snapshot. */
static void leave_pmu(struct counters c)
{
	struct sbiret a, b, f;

	sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, SNAPSHOT, 0, 0, 0, 0);
	a = pmu_config(c.hw, 0, EVENT_INSTRUCTIONS);
	b = pmu_config(c.hw, 0, EVENT_CYCLES);
	f = pmu_config(c.fw, SBI_PMU_CFG_FLAG_AUTO_START, 0xf0005);
	pmu_start(BIT(a.value), -100UL);
	for (volatile int i = 0; i < 200; i++)
		;
	pmu_start(BIT(b.value), -3000UL);
	(void)f;
}

/* Counts code of known length: 2,001 in every life. */
static uint64_t counted(struct counters c)
{
	struct sbiret r = pmu_config(c.hw, 0, EVENT_INSTRUCTIONS);
	uint64_t n;

	pmu_start(BIT(r.value), FAR);
	n = segment_of((uint32_t)r.value)(1000);
	pmu_reset(BIT(r.value));
	return n;
}

int life(uint64_t hartid)
{
	uint64_t now = csr_read(time), dirty;
	struct counters c = find_counters();

	(void)hartid;
	dirty = not_zero(RAM_BASE, IMAGE) + not_zero(((uint64_t)image_end + 7) & ~7UL, RAM_END);
	print("life: fresh %u, dirty words %u, pmu %x, early %u", fresh, dirty, pmu_left(c),
	      (uint64_t)(now < 1000000));
	print(", counted %u\n", counted(c));
	fresh++;
	for (volatile uint64_t i = bootarg_num("spin", 0); i; i--)
		;
	fill(RAM_BASE, IMAGE);
	fill(((uint64_t)image_end + 7) & ~7UL, RAM_END);
	csr_set(sstatus, 3UL << 13); /* FS */
	__asm__ volatile("fmv.d.x fa0, %0" ::"r"(~0UL));
	leave_pmu(c);
	sbi_call(SBI_EXT_SRST, SBI_SRST_RESET, bootarg_num("type", 1), bootarg_num("reason", 0), 0,
	         0, 0, 0);
	return 1;
}

static void trap_vector_at(uint64_t address)
{
	csr_write(stvec, address);
}

/* life.S: the first instruction of one is illegal, another has an EBREAK, and another stores to an
 * invalid address. */
void illegal_vector(void);
void breaking_vector(void);
void storing_vector(void);
void patient_vector(void);

/* Ends in the way that how= says. */
int crash(uint64_t hartid)
{
	volatile uint64_t *nothing = (volatile uint64_t *)0x40000000UL;

	(void)hartid;
	print("crash: begins\n");
	for (volatile uint64_t i = bootarg_num("spin", 0); i; i--)
		;
	if (bootarg_is("how", "jump")) {
		trap_vector_at(0xffff0000);
		__asm__ volatile("jr %0" ::"r"(0x40000000UL));
	} else if (bootarg_is("how", "vector")) {
		trap_vector_at((uint64_t)illegal_vector);
		__asm__ volatile("ebreak");
	} else if (bootarg_is("how", "breakpoint")) {
		trap_vector_at((uint64_t)breaking_vector);
		__asm__ volatile("ebreak");
	} else if (bootarg_is("how", "prologue")) {
		trap_vector_at((uint64_t)storing_vector);
		__asm__ volatile("ebreak");
	} else if (bootarg_is("how", "satp")) {
		csr_write(satp, 8UL << 60 | 0xffff0);
		__asm__ volatile("sfence.vma");
	} else if (bootarg_is("how", "paging")) {
		/* Nothing is mapped, not even the trap handler. */
		csr_write(satp, 8UL << 60 | SNAPSHOT >> 12);
		__asm__ volatile("sfence.vma");
	} else if (bootarg_is("how", "standstill")) {
		return handler_faults();
	} else if (bootarg_is("how", "load")) {
		(void)*nothing;
	} else if (bootarg_is("how", "store")) {
		*nothing = 1;
	} else if (bootarg_is("how", "fetch")) {
		__asm__ volatile("jr %0" ::"r"(0x40000000UL));
	} else if (bootarg_is("how", "patient")) {
		trap_vector_at((uint64_t)patient_vector);
		__asm__ volatile("li s0, 0\n\tmv a0, %0\n\tebreak" ::"r"(200000000UL) : "a0", "s0");
	} else if (bootarg_is("how", "stop")) {
		sbi_call(SBI_EXT_HSM, SBI_HSM_HART_STOP, 0, 0, 0, 0, 0, 0);
	} else {
		return 1;
	}
	for (;;)
		;
}
