/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every vcpu counts code of known length, computes with floating-point numbers and vectors, and
 * sends IPIs and fences to all others, rounds= times.
 */
#include "guests/bare/vcpu/smp.h"

#define FAR          0x8000000000000001UL
#define STEPS        300000
#define VECTOR_STEPS 20000

struct smp_vcpu smp_vcpus[SMP_MAX];
static uint8_t stacks[SMP_MAX][4096] __attribute__((aligned(16)));

struct smp_vcpu *smp_prepare(uint64_t hartid, void (*run)(uint64_t, struct smp_vcpu *))
{
	struct smp_vcpu *vcpu = &smp_vcpus[hartid];

	vcpu->sp = (uint64_t)stacks[hartid + 1];
	vcpu->run = run;
	vcpu->done = 0;
	return vcpu;
}

bool smp_await_state(uint64_t hartid, uint64_t state)
{
	uint64_t until = csr_read(time) + SMP_LOST;

	while (hsm(SBI_HSM_HART_GET_STATUS, hartid, 0, 0).value != state)
		if (csr_read(time) > until)
			return false;
	return true;
}

uint64_t smp_count(void)
{
	uint64_t n = 0;

	while (n < SMP_MAX && !hsm(SBI_HSM_HART_GET_STATUS, n, 0, 0).error)
		n++;
	return n;
}

enum { COUNTED, CYCLES, WRONG, FP, ERRORS, VECTOR };

/* Computes in double precision; a test knows every bit of the result. Not inlined, because FS is
 * off before. */
static __attribute__((noinline)) uint64_t compute(uint64_t hartid)
{
	double x = 0.1 + 0.01 * (double)hartid;
	uint64_t bits;

	for (int i = 0; i < STEPS; i++)
		x = 3.9 * x * (1.0 - x);
	__asm__("fmv.x.d %0, %1" : "=r"(bits) : "f"(x));
	return bits;
}

static uint64_t count(uint64_t hw, uint64_t event, uint64_t rounds)
{
	struct sbiret r = pmu_config(hw, 0, event);
	uint64_t n;

	if (r.error || pmu_start(BIT(r.value), FAR))
		return 0;
	n = segment_of((uint32_t)r.value)(rounds);
	pmu_reset(BIT(r.value));
	return n;
}

static void one_round(uint64_t hartid, struct smp_vcpu *self, uint64_t hw)
{
	uint64_t length = 500000 + 1000 * hartid;

	self->values[COUNTED] = count(hw, EVENT_INSTRUCTIONS, length);
	self->values[CYCLES] = count(hw, EVENT_CYCLES, length);
	self->values[WRONG] += self->values[COUNTED] != 2 * length + 1;
	self->values[WRONG] += self->values[CYCLES] != 2 * length + 1;
	if (with_vectors())
		self->values[VECTOR] = vec_compute(hartid, VECTOR_STEPS);
	self->values[FP] = compute(hartid);
	for (unsigned long i = 0; i < 50; i++) {
		self->values[ERRORS] +=
		    sbi_call(SBI_EXT_RFENCE, i % 3, ~0UL, ~0UL, 0, 4096, i, 0).error != 0;
		self->values[ERRORS] +=
		    sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, ~0UL, ~0UL, 0, 0, 0, 0).error != 0;
	}
}

static void work(uint64_t hartid, struct smp_vcpu *self)
{
	uint64_t hw = find_counters().hw, rounds = bootarg_num("rounds", 3);

	csr_set(sstatus, 3UL << 13 | (with_vectors() ? SSTATUS_VS : 0)); /* FS */
	for (unsigned i = 0; i < 8; i++)
		self->values[i] = 0;
	for (uint64_t i = 0; i < rounds; i++)
		one_round(hartid, self, hw);
	self->done = csr_read(sip) & IRQ_SOFT ? 2 : 1;
	csr_clear(sip, IRQ_SOFT);
}

static void work_and_stop(uint64_t hartid, struct smp_vcpu *self)
{
	work(hartid, self);
	hsm(SBI_HSM_HART_STOP, 0, 0, 0);
}

int smp(uint64_t hartid)
{
	uint64_t n = smp_count(), bad = 0;

	for (uint64_t i = 0; i < n; i++)
		bad += i != hartid && smp_start(i, work_and_stop);
	work(hartid, &smp_vcpus[hartid]);
	for (uint64_t i = 0; i < n; i++) {
		struct smp_vcpu *v = &smp_vcpus[i];

		while (!v->done)
			;
		bad += i != hartid && !smp_await_state(i, SBI_HSM_STATE_STOPPED);
		print("smp: vcpu %u: instructions %u, cycles %u, wrong %u", i, v->values[COUNTED],
		      v->values[CYCLES], v->values[WRONG]);
		print(", fp %x, errors %u, ipi %u", v->values[FP], v->values[ERRORS], v->done);
		if (with_vectors())
			print(", vector %x", v->values[VECTOR]);
		print("\n");
	}
	print("smp: ends, %u vcpus, %u bad\n", n, bad);
	return bad ? 1 : 0;
}
