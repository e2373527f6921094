/* SPDX-License-Identifier: Apache-2.0 */
/* SBI 3.0 chapter 9: states and errors of HSM, from vcpu 0 and vcpu 1. Each error prints a line. */
#include "guests/bare/pmu/check.h"
#include "guests/bare/vcpu/smp.h"

#define RAM_TOP 0x81000000UL

static struct sbiret ipi(uint64_t mask, uint64_t base)
{
	return sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, mask, base, 0, 0, 0, 0);
}

static long start_at(uint64_t hartid, uint64_t pc)
{
	return hsm(SBI_HSM_HART_START, hartid, pc, 0).error;
}

static uint64_t status(uint64_t hartid)
{
	return hsm(SBI_HSM_HART_GET_STATUS, hartid, 0, 0).value;
}

static void errors(uint64_t n)
{
	uint64_t entry = (uint64_t)smp_entry;

	check("status of oneself", status(0), SBI_HSM_STATE_STARTED);
	check("status of one never started", status(1), SBI_HSM_STATE_STOPPED);
	check("status of one too many", (uint64_t)hsm(SBI_HSM_HART_GET_STATUS, n, 0, 0).error,
	      (uint64_t)SBI_ERR_INVALID_PARAM);
	check("status of a large number",
	      (uint64_t)hsm(SBI_HSM_HART_GET_STATUS, 1UL << 32, 0, 0).error,
	      (uint64_t)SBI_ERR_INVALID_PARAM);
	check("start oneself", (uint64_t)start_at(0, entry), (uint64_t)SBI_ERR_ALREADY_AVAILABLE);
	check("start one too many", (uint64_t)start_at(n, entry), (uint64_t)SBI_ERR_INVALID_PARAM);
	check("start at 0", (uint64_t)start_at(1, 0), (uint64_t)SBI_ERR_INVALID_ADDRESS);
	check("start behind RAM", (uint64_t)start_at(1, RAM_TOP),
	      (uint64_t)SBI_ERR_INVALID_ADDRESS);
	check("start in a device", (uint64_t)start_at(1, 0x10000000),
	      (uint64_t)SBI_ERR_INVALID_ADDRESS);
	check("start at an odd address", (uint64_t)start_at(1, entry + 1),
	      (uint64_t)SBI_ERR_INVALID_ADDRESS);
	check("status after errors", status(1), SBI_HSM_STATE_STOPPED);
	check("function 4", (uint64_t)hsm(4, 0, 0, 0).error, (uint64_t)SBI_ERR_NOT_SUPPORTED);
	check("IPI to one too many", (uint64_t)ipi(1UL << n, 0).error,
	      (uint64_t)SBI_ERR_INVALID_PARAM);
	check("IPI from a base too high", (uint64_t)ipi(1, n).error,
	      (uint64_t)SBI_ERR_INVALID_PARAM);
	check("IPI to nobody", (uint64_t)ipi(0, 0).error, 0);
	check("IPI to one that is stopped", (uint64_t)ipi(2, 0).error, 0);
	check("fence on one that is stopped",
	      (uint64_t)sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_FENCE_I, 2, 0, 0, 0, 0, 0).error, 0);
}

/* Vcpu 1, in its first life: records what it finds, and stops while its PMU is in full use. */
static void first_life(uint64_t hartid, struct smp_vcpu *self)
{
	struct counters c = find_counters();
	struct sbiret r;

	self->values[0] = hartid;
	sbi_pmu(SBI_PMU_SNAPSHOT_SET_SHMEM, 0x80e00000, 0, 0, 0, 0);
	r = pmu_config(c.hw, 0, EVENT_INSTRUCTIONS);
	pmu_start(BIT(r.value), -100UL);
	pmu_config(c.hw, SBI_PMU_CFG_FLAG_AUTO_START, EVENT_CYCLES);
	for (volatile int i = 0; i < 200; i++)
		;
	self->values[1] = (uint64_t)hsm(SBI_HSM_HART_START, 1, (uint64_t)smp_entry, 0).error;
	self->values[2] = (uint64_t)ipi(1UL << 63 | 1, 1).error;
	self->done = 1;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
	self->done = 99; /* a stop does not return */
}

/* Must not see anything of the first life: sip.LCOFIP, scountovf, a counter, the snapshot. */
static void second_life(uint64_t hartid, struct smp_vcpu *self)
{
	uint64_t readable = 0;

	(void)hartid;
	self->values[0] = csr_read(sip) & IRQ_LCOFI;
	self->values[1] = insn_run(INSN_CSRR_A0(CSR_SCOUNTOVF), 0);
	for (uint32_t ctr = 3; ctr < 32; ctr++) {
		trap_guard();
		insn_run(INSN_CSRR_A0(CSR_CYCLE + ctr), 0);
		readable += trap_unguard().cause == ~0UL;
	}
	self->values[2] = readable;
	self->values[3] = (uint64_t)sbi_pmu(SBI_PMU_COUNTER_STOP, 0, BIT(3),
	                                    SBI_PMU_STOP_FLAG_TAKE_SNAPSHOT, 0, 0)
	                      .error;
	self->done = 1;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

static void resumed(uint64_t hartid, struct smp_vcpu *self)
{
	self->values[2] = hartid;
	self->done = 2;
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

/* Upper half of suspend types, which are 32 bits wide, so it must be ignored. */
static uint64_t upper;

static void sleeper(uint64_t hartid, struct smp_vcpu *self)
{
	(void)hartid;
	csr_write(sie, IRQ_SOFT);
	self->values[0] = (uint64_t)hsm(SBI_HSM_HART_SUSPEND, upper, 0, 0).error;
	/* The IPI is still pending, so a second suspend returns at once. */
	self->values[1] = (uint64_t)hsm(SBI_HSM_HART_SUSPEND, upper, 0, 0).error;
	csr_clear(sip, IRQ_SOFT);
	smp_prepare(1, resumed);
	csr_set(sstatus, SSTATUS_SIE);
	self->done = 1;
	hsm(SBI_HSM_HART_SUSPEND, upper | 0x80000000, (uint64_t)smp_entry, (uint64_t)self);
	self->done = 99; /* it does not return */
}

static void await(const struct smp_vcpu *v, uint64_t done)
{
	uint64_t until = csr_read(time) + SMP_LOST, is;

	/* Checked once per time slice, because the next life may be prepared right afterwards. */
	do
		is = v->done;
	while (is != done && csr_read(time) < until);
	check("it came so far", is, done);
}

static void lives(struct smp_vcpu *one)
{
	check("start", (uint64_t)smp_start(1, first_life), 0);
	await(one, 1);
	check("a0 of the started", one->values[0], 1);
	check("its sstatus.SIE", one->sstatus & SSTATUS_SIE, 0);
	check("its satp", one->satp, 0);
	check("its sie", one->sie, 0);
	check("start of one started", one->values[1], (uint64_t)SBI_ERR_ALREADY_AVAILABLE);
	check("IPI to oneself and hart 64", one->values[2], (uint64_t)SBI_ERR_INVALID_PARAM);
	check("it is stopped", smp_await_state(1, SBI_HSM_STATE_STOPPED), true);
	check("no return from stop", one->done, 1);
	check("start again", (uint64_t)smp_start(1, second_life), 0);
	await(one, 1);
	check("LCOFIP of a former life", one->values[0], 0);
	check("scountovf of a former life", one->values[1], 0);
	check("counters of a former life", one->values[2], 0);
	check("snapshot of a former life", one->values[3], (uint64_t)SBI_ERR_NO_SHMEM);
	check("it is stopped", smp_await_state(1, SBI_HSM_STATE_STOPPED), true);
}

static void sleeps(struct smp_vcpu *one, uint64_t upper_half)
{
	upper = upper_half;
	check("start a sleeper", (uint64_t)smp_start(1, sleeper), 0);
	check("it sleeps", smp_await_state(1, SBI_HSM_STATE_SUSPENDED), true);
	check("start of one suspended", (uint64_t)start_at(1, (uint64_t)smp_entry),
	      (uint64_t)SBI_ERR_ALREADY_AVAILABLE);
	check("IPI", (uint64_t)ipi(1, 1).error, 0);
	await(one, 1);
	check("suspend", one->values[0], 0);
	check("suspend with an interrupt", one->values[1], 0);
	check("it sleeps, non-retentively", smp_await_state(1, SBI_HSM_STATE_SUSPENDED), true);
	one->sstatus = one->satp = ~0UL;
	check("IPI", (uint64_t)ipi(~0UL, ~0UL).error, 0);
	await(one, 2);
	check("a0 of the resumed", one->values[2], 1);
	check("its sstatus.SIE", one->sstatus & SSTATUS_SIE, 0);
	check("its satp", one->satp, 0);
	check("it is stopped", smp_await_state(1, SBI_HSM_STATE_STOPPED), true);
	csr_clear(sip, IRQ_SOFT);
}

int hsm_kind(uint64_t hartid)
{
	struct smp_vcpu *one = &smp_vcpus[1];

	(void)hartid;
	errors(smp_count());
	lives(one);
	sleeps(one, 0);
	sleeps(one, 0xffffffff00000000);
	lives(one);
	return check_end("hsm");
}
