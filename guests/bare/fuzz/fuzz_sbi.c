/* SPDX-License-Identifier: Apache-2.0 */
/* SBI calls, apart from those of the PMU. */
#include "guests/bare/fuzz/fuzz.h"

#define SUSP 0x53555350UL

static struct sbiret call(struct fuzz_vcpu *v, uint64_t ext, uint64_t fid, const uint64_t *a)
{
	fuzz_say(v, "call %x %x: %x %x %x %x %x %x", ext, fid, a[0], a[1], a[2], a[3], a[4], a[5]);
	return sbi_call(ext, fid, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* What ends, stops or silences this guest, which has steps of its own, or prints much. */
static bool has_its_step(uint64_t ext, uint64_t fid, const uint64_t *a)
{
	if (ext == SBI_EXT_HSM)
		return fid != SBI_HSM_HART_GET_STATUS;
	if (ext == SBI_EXT_DBCN)
		return fid == SBI_DBCN_CONSOLE_WRITE && a[0] > 64;
	return ext == SUSP || ext == SBI_EXT_SRST || ext == 8;
}

static uint64_t extension(struct fuzz_vcpu *v)
{
	static const uint64_t known[] = {
	    SBI_EXT_BASE,
	    SBI_EXT_TIME,
	    SBI_EXT_IPI,
	    SBI_EXT_RFENCE,
	    SBI_EXT_HSM,
	    SBI_EXT_SRST,
	    SBI_EXT_PMU,
	    SBI_EXT_DBCN,
	    SUSP,
	    0x43505043,
	    0x4e41434c,
	    0x535441,
	    0x535345,
	    0x46574654,
	    0x44425452,
	    0x4d505859,
	    0x0a000000,
	    0,
	    1,
	    5,
	};

	return fuzz_once_in(v, 16) ? fuzz_value(v) : PICK(v, known);
}

void fuzz_sbi(struct fuzz_vcpu *v)
{
	for (uint64_t n = 1 + fuzz_below(v, 6); n; n--) {
		uint64_t a[6], ext = extension(v);
		uint64_t fid = fuzz_once_in(v, 8) ? fuzz_value(v) : fuzz_below(v, 10);

		for (unsigned i = 0; i < 6; i++)
			a[i] = fuzz_value(v);
		if (!has_its_step(ext, fid, a))
			call(v, ext, fid, a);
	}
}

static uint64_t entry(struct fuzz_vcpu *v)
{
	return fuzz_once_in(v, 200) ? fuzz_value(v) : (uint64_t)fuzz_begin;
}

void fuzz_hsm(struct fuzz_vcpu *v)
{
	uint64_t a[6] = {fuzz_below(v, fuzz_count() + 1), entry(v), fuzz_value(v), 0, 0, 0};

	switch (fuzz_below(v, 8)) {
	case 0:
	case 1:
	case 2:
		call(v, SBI_EXT_HSM, SBI_HSM_HART_START, a);
		return;
	case 3:
	case 4:
		/* The timer wakes it. */
		a[0] = fuzz_once_in(v, 4) ? fuzz_value(v) : SBI_HSM_SUSPEND_RETENTIVE;
		call(v, SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, a);
		return;
	case 5:
		a[0] = SBI_HSM_SUSPEND_NON_RETENTIVE;
		v->step++;
		call(v, SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, a);
		return;
	case 6:
		/* Another vcpu has to start it again. */
		v->step++;
		if (fuzz_count() > 1 && v->id)
			call(v, SBI_EXT_HSM, SBI_HSM_HART_STOP, a);
		return;
	default:
		for (unsigned i = 0; i < FUZZ_VCPUS; i++) {
			a[0] = i;
			call(v, SBI_EXT_HSM, SBI_HSM_HART_GET_STATUS, a);
		}
	}
}

void fuzz_end(struct fuzz_vcpu *v)
{
	uint64_t a[6] = {fuzz_below(v, 4), fuzz_below(v, 3), 0, 0, 0, 0};

	if (fuzz_once_in(v, 4))
		a[1] = fuzz_value(v);
	call(v, SBI_EXT_SRST, SBI_SRST_RESET, a);
}

/* IPIs and fences to all, one after the other. */
void fuzz_flood(struct fuzz_vcpu *v)
{
	uint64_t n = 1 + fuzz_below(v, 40), mixed = fuzz_below(v, 2), what = fuzz_below(v, 8);

	fuzz_say(v, "flood: %u times, from %u", n, what);
	csr_set(sstatus, fuzz_below(v, 2) * SSTATUS_SIE);
	for (; n; n--) {
		uint64_t mask = fuzz_once_in(v, 3) ? fuzz_random(v) & 15 : ~0UL;
		uint64_t base = fuzz_once_in(v, 3) ? 0 : ~0UL;

		if (what == 7)
			sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, mask, base, 0, 0, 0, 0);
		else
			sbi_call(SBI_EXT_RFENCE, what, mask, base, fuzz_value(v), fuzz_value(v),
			         fuzz_value(v), 0);
		what = mixed ? fuzz_below(v, 8) : what;
	}
}

void fuzz_print(struct fuzz_vcpu *v)
{
	uint64_t n = fuzz_below(v, fuzz_once_in(v, 10) ? 4000 : 100), at = fuzz_value(v);

	fuzz_say(v, "prints %u bytes at %x", n, at);
	switch (fuzz_below(v, 3)) {
	case 0:
		sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, n, at, 0, 0, 0, 0);
		return;
	case 1:
		sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_READ, n, SCRATCH + (at & 0xffff), 0, 0, 0,
		         0);
		return;
	default:
		for (; n; n--)
			*(volatile uint8_t *)UART = (uint8_t)fuzz_random(v);
	}
}
