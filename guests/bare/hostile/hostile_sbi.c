/* SPDX-License-Identifier: Apache-2.0 */
/* Calls every SBI extension and function with extreme arguments, except for those that end the
 * guest. */
#include "guests/bare/bare.h"

static const unsigned long extensions[] = {
    SBI_EXT_BASE, SBI_EXT_TIME, SBI_EXT_IPI, SBI_EXT_RFENCE, SBI_EXT_HSM, SBI_EXT_SRST, SBI_EXT_PMU,
    SBI_EXT_DBCN, 0x53555350, /* SUSP */
    0x43505043,               /* CPPC */
    0x4e41434c,               /* NACL */
    0x00535441,               /* STA */
    0x00535345,               /* SSE */
    0x46574654,               /* FWFT */
    0x44425452,               /* DBTR */
    0x4d505859,               /* MPXY */
    0x08000000,               /* experimental */
    0x09000000,               /* vendor */
    /* Firmware-specific: OpenSBI's own is 0x0a000001. */
    0x0a000000, 0x0a000001, 0xffffffffffffffff, 0x100000010, /* Base with a bit above bit 31 */
};

static const unsigned long extremes[] = {
    0, 1, ~0UL, 1UL << 63, 0x80000000UL, 0x40000000UL, 0xfffffffffffff000UL, 0x80f00ff8UL,
};
#define EXTREMES (sizeof(extremes) / sizeof(extremes[0]))

/* Whether a correct call would end or stop this guest, or print its memory. Of reset and suspend
 * types 32 bits count. */
static bool forbidden(unsigned long ext, unsigned long fid, unsigned long a0, unsigned long a1)
{
	uint32_t type = (uint32_t)a0, reason = (uint32_t)a1;

	if (ext == SBI_EXT_SRST && fid == 0)
		return type <= 2 && (reason <= 1 || reason >= 0xe0000000U);
	if (ext == SBI_EXT_HSM)
		return fid == SBI_HSM_HART_STOP ||
		       (fid == SBI_HSM_HART_SUSPEND && (type == 0 || type == 0x80000000U));
	if (ext == 0x53555350)
		return fid == 0;
	if (ext == SBI_EXT_DBCN)
		return fid == SBI_DBCN_WRITE_BYTE || a0 == 1 ||
		       (a1 >= 0x80000000UL && a1 < 0x100000000UL);
	return false;
}

static uint64_t one(unsigned long ext, unsigned long fid, unsigned n)
{
	unsigned long a[6];

	for (int i = 0; i < 6; i++) {
		a[i] = extremes[n % EXTREMES];
		n = n / EXTREMES + n * 7 + 3;
	}
	if (forbidden(ext, fid, a[0], a[1]))
		return 0;
	return sbi_call(ext, fid, a[0], a[1], a[2], a[3], a[4], a[5]).error == SBI_SUCCESS;
}

static uint64_t known_extensions(void)
{
	uint64_t passed = 0;

	for (unsigned e = 0; e < sizeof(extensions) / sizeof(extensions[0]); e++) {
		for (unsigned long fid = 0; fid < 20; fid++)
			for (unsigned n = 0; n < EXTREMES * EXTREMES; n++)
				passed += one(extensions[e], fid, n);
		passed += one(extensions[e], ~0UL, 2) + one(extensions[e], 1UL << 32, 3) +
		          one(extensions[e], 1UL << 63, 4);
	}
	return passed;
}

/* Legacy extensions (8 is shutdown, 2 waits for a key) and unused ids. */
static uint64_t unknown_extensions(void)
{
	uint64_t passed = 0, x = 88172645463325252UL;

	for (unsigned long ext = 0x11; ext < 0x200; ext++)
		passed += sbi_call(ext, 0, ~0UL, ~0UL, ~0UL, ~0UL, ~0UL, ~0UL).error == SBI_SUCCESS;
	for (int i = 0; i < 1000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		passed += sbi_call(x, x >> 60, x, x, x, x, x, x).error == SBI_SUCCESS;
	}
	return passed;
}

/* Correct calls with much work. */
static uint64_t heavy(uint64_t hartid)
{
	uint64_t passed = 0;

	for (int i = 0; i < 100; i++) {
		passed += !sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_SFENCE_VMA, 1, hartid, 0, ~0UL, 0, 0)
		               .error;
		passed += !sbi_call(SBI_EXT_RFENCE, SBI_RFENCE_SFENCE_VMA_ASID, ~0UL, ~0UL, 0, ~0UL,
		                    ~0UL, 0)
		               .error;
		passed += !sbi_call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, ~0UL, 0, 0, 0, 0).error;
	}
	csr_clear(sip, IRQ_SOFT);
	/* A console write of most of this guest, but its range begins outside of RAM. */
	passed +=
	    !sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, 0xf00000, 0x7fffffff, 0, 0, 0, 0).error;
	passed += !sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_WRITE, 16, 0x80200000, 1, 0, 0, 0).error;
	passed +=
	    !sbi_call(SBI_EXT_DBCN, SBI_DBCN_CONSOLE_READ, 4096, 0x40000000, 0, 0, 0, 0).error;
	/* Starts its own hart, and harts that do not exist. */
	for (unsigned long hart = 0; hart < 70; hart++)
		passed +=
		    !sbi_call(SBI_EXT_HSM, SBI_HSM_HART_START, hart, 0x40000000, 0, 0, 0, 0).error;
	return passed;
}

uint64_t hostile_calls(uint64_t hartid)
{
	struct counters c = find_counters();
	uint64_t passed = known_extensions() + unknown_extensions() + heavy(hartid);

	pmu_reset(c.hw | c.fw);
	csr_write(sie, 0);
	sbi_call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, ~0UL, 0, 0, 0, 0, 0);
	return passed;
}
