/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of the PMU extension in any order, counters that overflow soon, and reads of them. */
#include "guests/bare/fuzz/fuzz.h"

/* Up to the last hardware counter, mostly. */
static uint64_t mask(struct fuzz_vcpu *v)
{
	switch (fuzz_below(v, 5)) {
	case 0:
		return 1UL << fuzz_below(v, 20);
	case 1:
		return fuzz_random(v) & 0x7ffff;
	case 2:
		return ~0UL;
	case 3:
		return 1UL << fuzz_below(v, 64);
	default:
		return fuzz_value(v);
	}
}

static uint64_t base(struct fuzz_vcpu *v)
{
	return fuzz_once_in(v, 4) ? fuzz_value(v) : fuzz_once_in(v, 4) ? fuzz_below(v, 60) : 0;
}

static uint64_t start_value(struct fuzz_vcpu *v)
{
	switch (fuzz_below(v, 4)) {
	case 0:
		return fuzz_value(v);
	case 1:
		return 0x8000000000000001UL - fuzz_below(v, 3);
	default:
		return -fuzz_below(v, fuzz_once_in(v, 2) ? 20 : 3000);
	}
}

static void call(struct fuzz_vcpu *v, uint64_t fid, uint64_t a0, uint64_t a1, uint64_t a2,
                 uint64_t a3, uint64_t a4)
{
	fuzz_say(v, "pmu %u: %x %x %x %x %x", fid, a0, a1, a2, a3, a4);
	sbi_pmu(fid, a0, a1, a2, a3, a4);
}

/* Entries for event_get_info. */
static void ask(struct fuzz_vcpu *v)
{
	uint64_t n = fuzz_once_in(v, 8) ? fuzz_value(v) : fuzz_below(v, 40);
	uint64_t at = fuzz_once_in(v, 4) ? fuzz_value(v)
	                                 : SCRATCH + (fuzz_below(v, SCRATCH_BYTES - 4096) & ~15UL);

	if (at >= SCRATCH && at < SCRATCH + SCRATCH_BYTES - 4096)
		for (uint64_t i = 0; i < n && i < 40; i++) {
			((volatile uint32_t *)at)[4 * i] = (uint32_t)fuzz_event(v);
			((volatile uint64_t *)at)[2 * i + 1] =
			    fuzz_once_in(v, 2) ? 0 : fuzz_value(v);
		}
	call(v, SBI_PMU_EVENT_GET_INFO, at, fuzz_once_in(v, 8) ? fuzz_value(v) : 0, n,
	     fuzz_once_in(v, 8), 0);
}

static void read_counters(struct fuzz_vcpu *v)
{
	uint32_t n = (uint32_t)fuzz_below(v, 20);

	if (fuzz_once_in(v, 3))
		csr_write(scounteren, fuzz_value(v));
	for (unsigned i = 0; i < 8; i++)
		v->words[i] = INSN_CSRR_A0(0xc00 + n);
	fuzz_execute(v, v->words, 8, 0);
}

static void one(struct fuzz_vcpu *v)
{
	switch (fuzz_below(v, 16)) {
	case 0:
		call(v, fuzz_below(v, 10), fuzz_value(v), fuzz_value(v), fuzz_value(v),
		     fuzz_value(v), fuzz_value(v));
		return;
	case 1:
	case 2:
	case 3:
	case 4:
		call(v, SBI_PMU_COUNTER_CONFIG_MATCHING, base(v), mask(v), fuzz_random(v) & 0xff,
		     fuzz_event(v), fuzz_once_in(v, 8) ? fuzz_value(v) : 0);
		return;
	case 5:
	case 6:
	case 7:
		call(v, SBI_PMU_COUNTER_START, base(v), mask(v),
		     fuzz_once_in(v, 4) ? fuzz_below(v, 5) : 1, start_value(v), 0);
		return;
	case 8:
	case 9:
		call(v, SBI_PMU_COUNTER_STOP, base(v), mask(v), fuzz_below(v, 4), 0, 0);
		return;
	case 10:
		call(v, 5 + fuzz_below(v, 2), fuzz_below(v, 64), 0, 0, 0, 0);
		return;
	case 11:
		call(v, SBI_PMU_SNAPSHOT_SET_SHMEM,
		     fuzz_once_in(v, 3) ? fuzz_value(v)
		                        : SCRATCH + (fuzz_below(v, SCRATCH_BYTES) & ~0xfffUL),
		     fuzz_once_in(v, 8) ? ~0UL : 0, fuzz_once_in(v, 8), 0, 0);
		return;
	case 12:
		ask(v);
		return;
	case 13:
		fuzz_code(v, fuzz_csr_word, 0);
		return;
	case 14:
		csr_set(sie, IRQ_LCOFI);
		csr_set(sstatus, SSTATUS_SIE);
		for (volatile uint64_t n = fuzz_below(v, 400); n; n--)
			;
		csr_clear(sstatus, fuzz_below(v, 2) * SSTATUS_SIE);
		return;
	default:
		read_counters(v);
	}
}

void fuzz_pmu(struct fuzz_vcpu *v)
{
	for (uint64_t n = 1 + fuzz_below(v, 12); n; n--)
		one(v);
}
