/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/fake_firmware.h"

#include <string.h>

#include "arch/riscv/counters/hpm.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi.h"
#include "vpmu/sbi_pmu.h"

#define COUNTERS 32U
#define FIDS     9U
#define FIXED    5U

uint64_t host_csrs[4096];

/* No counter is delegated. */
void host_csr_write(uint32_t csr, uint64_t value)
{
	host_csrs[csr] = value;
}

/* A counter with its selector. RESET keeps OF and the value. */
static struct {
	uint64_t event_idx; /* 0: free */
	uint64_t flags;
	uint64_t value;
	bool running;
	bool of;
} counters[COUNTERS];

static uint64_t calls[FIDS];
static uint64_t failing_fid, failing_n;
static enum firmware_fault failing;

void firmware_reset(void)
{
	memset(counters, 0, sizeof(counters));
	memset(host_csrs, 0, sizeof(host_csrs));
	counters[2].event_idx = SBI_PMU_HW_INSTRUCTIONS;
	counters[2].running = true;
	firmware_fail(0, FIRMWARE_NEVER, FIRMWARE_NOTHING);
}

void firmware_fail(uint64_t fid, uint64_t n, enum firmware_fault fault)
{
	memset(calls, 0, sizeof(calls));
	failing_fid = fid;
	failing_n = n;
	failing = fault;
}

uint64_t firmware_calls(uint64_t fid)
{
	return calls[fid];
}

static void show_flags(void)
{
	uint64_t flags = 0;

	for (uint32_t i = 3; i < COUNTERS; i++)
		flags |= (uint64_t)counters[i].of << i;
	host_csrs[CSR_SCOUNTOVF] = flags;
	host_csrs[CSR_INSTRET] = counters[2].value;
}

/* --- the guest ----------------------------------------------------------------------- */

void firmware_guest_insn(bool user, bool miss)
{
	uint64_t inhibit = user ? SBI_PMU_CFG_FLAG_SET_VUINH : SBI_PMU_CFG_FLAG_SET_VSINH;

	for (uint32_t i = 0; i < COUNTERS; i++) {
		bool counts = counters[i].event_idx <= SBI_PMU_HW_INSTRUCTIONS || miss;

		if (!counters[i].running || (counters[i].flags & inhibit) || !counts)
			continue;
		if (++counters[i].value || counters[i].of || (FIXED >> i & 1))
			continue;
		counters[i].of = true;
		host_csrs[CSR_SIP] |= BIT(IRQ_LCOFI);
	}
	show_flags();
}

uint64_t firmware_counter(uint32_t hctr)
{
	return counters[hctr].value;
}

uint64_t hpm_read(uint32_t hctr)
{
	return counters[hctr].value;
}

/* --- the calls ----------------------------------------------------------------------- */

static bool can_count(uint32_t hctr, uint64_t event_idx)
{
	if (FIXED >> hctr & 1)
		return event_idx == (hctr ? SBI_PMU_HW_INSTRUCTIONS : SBI_PMU_HW_CPU_CYCLES);
	return hctr >= 3 && hctr < 19;
}

/* Only RESET frees a programmable counter for another event. */
static long config(uint32_t hctr, uint64_t flags, uint64_t event_idx)
{
	bool is_free = !counters[hctr].event_idx || (FIXED >> hctr & 1);

	if (!can_count(hctr, event_idx) || !is_free || counters[hctr].running)
		return SBI_ERR_NOT_SUPPORTED;
	counters[hctr].event_idx = event_idx;
	counters[hctr].flags = flags;
	counters[hctr].of = true;
	return SBI_SUCCESS;
}

static long start(uint32_t hctr, uint64_t flags, uint64_t value)
{
	if (!counters[hctr].event_idx)
		return SBI_ERR_INVALID_PARAM;
	if (counters[hctr].running)
		return SBI_ERR_ALREADY_STARTED;
	if (flags & SBI_PMU_START_SET_INIT_VALUE)
		counters[hctr].value = value;
	/* OpenSBI up to version 1.7. */
	if (!(host_csrs[CSR_SIP] & BIT(IRQ_LCOFI)))
		counters[hctr].of = false;
	counters[hctr].running = true;
	return SBI_SUCCESS;
}

static long stop(uint32_t hctr, uint64_t flags)
{
	bool was_running = counters[hctr].running;

	counters[hctr].running = false;
	if (flags & SBI_PMU_STOP_FLAG_RESET) {
		counters[hctr].event_idx = 0;
		counters[hctr].flags = 0;
	}
	return was_running ? SBI_SUCCESS : SBI_ERR_ALREADY_STOPPED;
}

static struct sbi_ret serve(uint64_t fid, uint64_t base, uint64_t mask, uint64_t flags,
                            uint64_t event_or_value)
{
	struct sbi_ret ret = {.error = SBI_ERR_INVALID_PARAM};

	/* The result for a set is that of its last counter. */
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (i < base || !(mask >> (i - base) & 1))
			continue;
		ret.value = 0;
		if (fid == SBI_PMU_COUNTER_START)
			ret.error = start(i, flags, event_or_value);
		else if (fid == SBI_PMU_COUNTER_STOP)
			ret.error = stop(i, flags);
		else
			ret = (struct sbi_ret){config(i, flags, event_or_value), i};
	}
	return ret;
}

struct sbi_ret sbi_call(uint64_t eid, uint64_t fid, uint64_t arg0, uint64_t arg1, uint64_t arg2,
                        uint64_t arg3, uint64_t arg4)
{
	struct sbi_ret ret = {.error = SBI_ERR_FAILED};
	uint64_t n;
	bool fails;

	(void)arg4;
	if (eid != SBI_EXT_PMU || fid >= FIDS)
		return (struct sbi_ret){.error = SBI_ERR_NOT_SUPPORTED};
	n = calls[fid]++;
	fails = fid == failing_fid &&
	        (n == failing_n || (n == failing_n + 1 && failing == FIRMWARE_TWICE) ||
	         (n > failing_n && failing == FIRMWARE_ALWAYS));
	if (!fails)
		ret = serve(fid, arg0, arg1, arg2, arg3);
	else if (failing == FIRMWARE_ALL)
		serve(fid, arg0, arg1, arg2, arg3);
	else if (failing == FIRMWARE_PART && (arg1 & (arg1 - 1)))
		serve(fid, arg0, arg1 & -arg1, arg2, arg3);
	show_flags();
	return ret;
}
