/* SPDX-License-Identifier: Apache-2.0 */
/* Guests with several vcpus, of which one starts the others. */
#ifndef GUESTS_SMP_H
#define GUESTS_SMP_H

#include "guests/bare/bare.h"

#define SMP_MAX 8U

/* For smp.S: where a vcpu begins, and its results. */
struct smp_vcpu {
	uint64_t sp;
	void (*run)(uint64_t hartid, struct smp_vcpu *self);
	uint64_t sstatus, satp, sie;
	volatile uint64_t done; /* for the vcpu itself, like the ones below */
	volatile uint64_t values[8];
};

extern struct smp_vcpu smp_vcpus[SMP_MAX];

void smp_entry(void);

/* Prepares a vcpu to run a function, with an empty stack. */
struct smp_vcpu *smp_prepare(uint64_t hartid, void (*run)(uint64_t, struct smp_vcpu *));

static inline struct sbiret hsm(unsigned long fid, unsigned long a0, unsigned long a1,
                                unsigned long a2)
{
	return sbi_call(SBI_EXT_HSM, fid, a0, a1, a2, 0, 0, 0);
}

/* Starts it. Returns an SBI error. */
static inline long smp_start(uint64_t hartid, void (*run)(uint64_t, struct smp_vcpu *))
{
	return hsm(SBI_HSM_HART_START, hartid, (uint64_t)smp_entry,
	           (uint64_t)smp_prepare(hartid, run))
	    .error;
}

/* Ticks after which what must come is taken for lost: a minute. With several harts time is the
 * host's, which may be busy. */
#define SMP_LOST 600000000UL

/* Waits until a vcpu has this HSM state. Returns false if it is lost. */
bool smp_await_state(uint64_t hartid, uint64_t state);

/* Returns the number of vcpus of this guest. */
uint64_t smp_count(void);

#endif
