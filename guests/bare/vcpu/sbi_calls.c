/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every extension of SBI 3.0 that Tally has, except for PMU (guests/selftest) and HSM (hsm.c), from
 * one vcpu: what each function returns, also for wrong arguments. If the specification calls a
 * parameter 32 bits wide, the upper half of its register must be ignored, because the C ABI extends
 * the sign. The last check is the end itself: a shutdown with such a type and reason.
 */
#include "guests/bare/pmu/check.h"
#include "guests/bare/vcpu/sbi_calls.h"

#define UPPER    0xffffffff00000000UL
#define BAD_FID  0xbadUL
#define RAM_BASE 0x80000000UL

static const unsigned long offered[] = {SBI_EXT_BASE, SBI_EXT_TIME, SBI_EXT_IPI, SBI_EXT_RFENCE,
                                        SBI_EXT_HSM,  SBI_EXT_SRST, SBI_EXT_PMU, SBI_EXT_DBCN};
/* The legacy extensions, SUSP, CPPC, NACL, STA, SSE, FWFT, DBTR, MPXY, a vendor's, and an existing
 * one with a bit above its 32. An id is a signed number of 32 bits, so that does not exist. */
static const unsigned long absent[] = {
    0,          1,          8,          0x53555350, 0x43505043, 0x4e41434c,          0x00535441,
    0x00535345, 0x46574654, 0x44425452, 0x4d505859, 0x09000000, UPPER | SBI_EXT_BASE};

static struct sbiret call(unsigned long ext, unsigned long fid, unsigned long a0, unsigned long a1)
{
	return sbi_call(ext, fid, a0, a1, 0, 0, 0, 0);
}

static void base(void)
{
	check_value("specification", call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0),
	            3UL << 24);
	check_value("implementation", call(SBI_EXT_BASE, SBI_BASE_GET_IMP_ID, 0, 0),
	            TALLY_SBI_IMP_ID);
	check_value("its version", call(SBI_EXT_BASE, SBI_BASE_GET_IMP_VERSION, 0, 0),
	            TALLY_SBI_IMP_VERSION);
	for (unsigned long fid = SBI_BASE_GET_MVENDORID; fid <= SBI_BASE_GET_MIMPID; fid++)
		check_error("ids of the machine", call(SBI_EXT_BASE, fid, 0, 0), SBI_SUCCESS);
	for (unsigned i = 0; i < sizeof(offered) / sizeof(offered[0]); i++) {
		check_value("probe of one offered",
		            call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, offered[i], 0), 1);
		check_error("no such function", call(offered[i], BAD_FID, 0, 0),
		            SBI_ERR_NOT_SUPPORTED);
		check_error("function 0 with a bit above 32", call(offered[i], 1UL << 32, 0, 0),
		            SBI_ERR_NOT_SUPPORTED);
	}
	for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		check_value("probe of one not offered",
		            call(SBI_EXT_BASE, SBI_BASE_PROBE_EXTENSION, absent[i], 0), 0);
		check_error("call of one not offered", call(absent[i], 0, 0, 0),
		            SBI_ERR_NOT_SUPPORTED);
	}
}

static struct sbiret set_timer(uint64_t at)
{
	return call(SBI_EXT_TIME, SBI_TIME_SET_TIMER, at, 0);
}

/* Section 6.1, with sie.STIE clear, so that no interrupt is taken. */
static void timer(void)
{
	uint64_t at = csr_read(time) + 10000;

	csr_clear(sie, IRQ_TIMER);
	check_value("set_timer, soon", set_timer(at), 0);
	check("it does not pend yet", csr_read(sip) & IRQ_TIMER, 0);
	for (int i = 0; i < 1000000 && !(csr_read(sip) & IRQ_TIMER); i++)
		;
	check("it pends", csr_read(sip) & IRQ_TIMER, IRQ_TIMER);
	check("not early", csr_read(time) >= at, true);
	check("not late", csr_read(time) < at + 100000, true);
	check_value("set_timer, never", set_timer(~0UL), 0);
	check("that clears it", csr_read(sip) & IRQ_TIMER, 0);
	check_value("set_timer, long ago", set_timer(0), 0);
	check("it pends at once", csr_read(sip) & IRQ_TIMER, IRQ_TIMER);
	set_timer(~0UL);
}

/* Section 3.1: hart masks, of IPIs and of fences. */
static void masks(unsigned long ext, unsigned long fid)
{
	check_value("to oneself", call(ext, fid, 1, 0), 0);
	check_value("to all", call(ext, fid, 0, ~0UL), 0);
	check_value("to all, mask ignored", call(ext, fid, ~0UL, ~0UL), 0);
	check_value("to nobody", call(ext, fid, 0, 0), 0);
	check_error("to one too many", call(ext, fid, 3, 0), SBI_ERR_INVALID_PARAM);
	check_error("to hart 63", call(ext, fid, 1UL << 63, 0), SBI_ERR_INVALID_PARAM);
	check_error("from a base too high", call(ext, fid, 1, 1), SBI_ERR_INVALID_PARAM);
	check_error("to nobody, from a base too high", call(ext, fid, 0, 1), SBI_ERR_INVALID_PARAM);
	check_error("from the highest base", call(ext, fid, 1, ~1UL), SBI_ERR_INVALID_PARAM);
	check_error("from a base of 64", call(ext, fid, 1, 64), SBI_ERR_INVALID_PARAM);
	check_error("from a base above 32 bits", call(ext, fid, 1, 1UL << 32),
	            SBI_ERR_INVALID_PARAM);
}

static void ipis_and_fences(void)
{
	csr_write(sie, 0);
	masks(SBI_EXT_IPI, SBI_IPI_SEND_IPI);
	check("an IPI pends", csr_read(sip) & IRQ_SOFT, IRQ_SOFT);
	csr_clear(sip, IRQ_SOFT);
	check("and is cleared", csr_read(sip) & IRQ_SOFT, 0);
	for (unsigned long fid = SBI_RFENCE_FENCE_I; fid <= SBI_RFENCE_SFENCE_VMA_ASID; fid++) {
		masks(SBI_EXT_RFENCE, fid);
		check_value("a range", sbi_call(SBI_EXT_RFENCE, fid, 1, 0, RAM_BASE, 4096, 1, 0),
		            0);
		check_value("all, by its size",
		            sbi_call(SBI_EXT_RFENCE, fid, 1, 0, 1, ~0UL, ~0UL, 0), 0);
	}
	/* Guests have no H extension. */
	for (unsigned long fid = SBI_RFENCE_HFENCE_GVMA_VMID; fid <= SBI_RFENCE_HFENCE_VVMA; fid++)
		check_error("hfence", call(SBI_EXT_RFENCE, fid, 1, 0), SBI_ERR_NOT_SUPPORTED);
}

/* Sections 9.4 and 10.1 have the same rule: a type that is reserved, or platform-specific and not
 * implemented, is INVALID_PARAM. */
static void suspend(void)
{
	static const uint32_t types[] = {1,          0x0fffffff, 0x10000000, 0x7fffffff,
	                                 0x80000001, 0x8fffffff, 0x90000000, 0xffffffff};

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		check_error("suspend, type",
		            call(SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, types[i], RAM_BASE),
		            SBI_ERR_INVALID_PARAM);
		check_error("suspend, type with an upper half",
		            call(SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, UPPER | types[i], RAM_BASE),
		            SBI_ERR_INVALID_PARAM);
	}
	check_error("resume where nothing is",
	            call(SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, 0x80000000, 0x40000000),
	            SBI_ERR_INVALID_ADDRESS);
	/* An IPI is pending, so a suspended hart continues at once. */
	csr_write(sie, IRQ_SOFT);
	call(SBI_EXT_IPI, SBI_IPI_SEND_IPI, 1, 0);
	check_value("retentive suspend", call(SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, 0, 0), 0);
	check_value("the same with an upper half",
	            call(SBI_EXT_HSM, SBI_HSM_HART_SUSPEND, 1UL << 63, 0), 0);
	csr_clear(sip, IRQ_SOFT);
	csr_write(sie, 0);
}

static struct sbiret reset(unsigned long type, unsigned long reason)
{
	return call(SBI_EXT_SRST, SBI_SRST_RESET, type, reason);
}

static void resets(void)
{
	static const uint32_t types[] = {3, 0x7fffffff, 0x80000000, 0xefffffff, 0xf0000000, ~0U};
	static const uint32_t reasons[] = {2, 0x7fffffff, 0x80000000, 0xdfffffff};

	for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		check_error("reset, type", reset(types[i], 0), SBI_ERR_INVALID_PARAM);
		check_error("reset, type with an upper half", reset(UPPER | types[i], 0),
		            SBI_ERR_INVALID_PARAM);
	}
	for (unsigned i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		check_error("reset, reason", reset(0, reasons[i]), SBI_ERR_INVALID_PARAM);
		check_error("reset, reason with an upper half", reset(0, UPPER | reasons[i]),
		            SBI_ERR_INVALID_PARAM);
	}
}

int sbi_calls(uint64_t hartid)
{
	(void)hartid;
	base();
	timer();
	ipis_and_fences();
	suspend();
	resets();
	sbi_console();
	if (check_end("sbi"))
		return 1;
	reset(UPPER | SBI_SRST_SHUTDOWN, 1UL << 32 | SBI_SRST_REASON_NONE);
	print("wrong: a shutdown with upper halves returned\n");
	return 1;
}
