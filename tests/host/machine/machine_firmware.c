/* SPDX-License-Identifier: Apache-2.0 */
/* The firmware: it starts harts, sends IPIs, drives counters, and fails now and then. */
#include "arch/riscv/counters/fw_events.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi.h"
#include "tests/host/machine/machine.h"

#define HW_COUNTERS 8U

static bool fails(uint32_t of)
{
	if (!machine.kind.firmware_fails || (!machine.booted && !machine.kind.boot_fails) ||
	    below(&machine.chance, of))
		return false;
	machine.faults++;
	return true;
}

static struct sbi_ret answer(long error, uint64_t value)
{
	return (struct sbi_ret){.error = error, .value = value};
}

static struct sbi_ret base(uint64_t fid)
{
	switch (fid) {
	case SBI_BASE_GET_SPEC_VERSION:
		return answer(SBI_SUCCESS, 3UL << 24);
	case SBI_BASE_PROBE_EXTENSION:
		return answer(SBI_SUCCESS, 1);
	default:
		return answer(SBI_SUCCESS, fid);
	}
}

static struct sbi_ret ipi(uint64_t mask, uint64_t first)
{
	static uint32_t in_a_row[MACHINE_HARTS];

	/* Without an end to it, a machine cannot go on (send_ipi()). */
	if (in_a_row[machine.now] < 7 && fails(4)) {
		in_a_row[machine.now]++;
		return answer(SBI_ERR_FAILED, 0);
	}
	in_a_row[machine.now] = 0;
	for (uint64_t i = 0; i < 64; i++) {
		if (!(mask >> i & 1))
			continue;
		struct machine_hart *h = machine_hart_of(first + i);

		if (!h)
			return answer(SBI_ERR_INVALID_PARAM, 0);
		h->csr[CSR_SIP] |= BIT(IRQ_SSI);
	}
	machine_sees();
	return answer(SBI_SUCCESS, 0);
}

static struct sbi_ret hsm(uint64_t fid, uint64_t hartid, uint64_t entry, uint64_t opaque)
{
	if (fid != SBI_HSM_HART_START || fails(20))
		return answer(SBI_ERR_FAILED, 0);
	machine_start_hart(hartid, entry, (void *)opaque);
	machine_sees();
	return answer(SBI_SUCCESS, 0);
}

/* --- PMU ----------------------------------------------------------------------------- */

static long config(struct machine_counter *c, uint32_t i, uint64_t flags, uint64_t event)
{
	bool right = i < 3 ? event == (i ? SBI_PMU_HW_INSTRUCTIONS : SBI_PMU_HW_CPU_CYCLES)
	                   : event && event <= SBI_PMU_HW_EVENT_LAST;

	if (!right || c->runs || (i >= 3 && c->selector))
		return SBI_ERR_NOT_SUPPORTED;
	c->selector = event;
	c->not_vs = flags & SBI_PMU_CFG_FLAG_SET_VSINH;
	c->not_vu = flags & SBI_PMU_CFG_FLAG_SET_VUINH;
	c->counts_hs = !(flags & SBI_PMU_CFG_FLAG_SET_SINH);
	c->of = true;
	return SBI_SUCCESS;
}

static long start(struct machine_hart *h, struct machine_counter *c, uint64_t flags, uint64_t value)
{
	if (!c->selector)
		return SBI_ERR_INVALID_PARAM;
	if (c->runs)
		return SBI_ERR_ALREADY_STARTED;
	if (flags & SBI_PMU_START_SET_INIT_VALUE)
		c->value = value;
	if (!(h->csr[CSR_SIP] & BIT(IRQ_LCOFI)))
		c->of = false;
	c->runs = true;
	return SBI_SUCCESS;
}

static long stop(struct machine_counter *c, uint64_t flags)
{
	bool ran = c->runs;

	c->runs = false;
	if (flags & SBI_PMU_STOP_FLAG_RESET)
		c->selector = 0;
	return ran ? SBI_SUCCESS : SBI_ERR_ALREADY_STOPPED;
}

/* Firmware counters follow the hardware's: one for each event that only M-mode sees. */
static struct sbi_ret config_fw(uint64_t event)
{
	uint64_t code = SBI_PMU_EVENT_CODE(event);

	return code < FW_EVENTS_M ? answer(SBI_SUCCESS, MACHINE_COUNTERS + code)
	                          : answer(SBI_ERR_NOT_SUPPORTED, 0);
}

static struct sbi_ret counters(uint64_t fid, uint64_t first, uint64_t mask, uint64_t flags,
                               uint64_t event)
{
	struct machine_hart *h = machine_hart();
	struct sbi_ret ret = answer(SBI_ERR_INVALID_PARAM, 0);

	if (fid == SBI_PMU_COUNTER_CONFIG_MATCHING && SBI_PMU_EVENT_TYPE(event) == SBI_PMU_TYPE_FW)
		return config_fw(event);
	if (first >= MACHINE_COUNTERS || !(mask & ((1UL << MACHINE_COUNTERS) - 1)))
		return answer(SBI_SUCCESS, 0);
	for (uint32_t i = (uint32_t)first; i < HW_COUNTERS; i++) {
		struct machine_counter *c = &h->counters[i];

		if (!(mask >> (i - first) & 1))
			continue;
		if (fid == SBI_PMU_COUNTER_START)
			ret.error = start(h, c, flags, event);
		else if (fid == SBI_PMU_COUNTER_STOP)
			ret.error = stop(c, flags);
		else
			ret = answer(config(c, i, flags, event), i);
	}
	return ret;
}

static struct sbi_ret pmu(uint64_t fid, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	struct machine_hart *h = machine_hart();

	switch (fid) {
	case SBI_PMU_NUM_COUNTERS:
		return answer(SBI_SUCCESS, MACHINE_COUNTERS + FW_EVENTS_M);
	case SBI_PMU_COUNTER_GET_INFO:
		return answer(SBI_SUCCESS, a0 >= MACHINE_COUNTERS ? SBI_PMU_INFO_TYPE_FW : 0);
	case SBI_PMU_COUNTER_FW_READ:
		return fails(4) ? answer(SBI_ERR_FAILED, 0)
		                : answer(SBI_SUCCESS, h->m_counters[a0 - MACHINE_COUNTERS]);
	default:
		if (fails(10))
			return answer(SBI_ERR_FAILED, 0);
		return counters(fid, a0, a1, a2, a3);
	}
}

struct sbi_ret sbi_call(uint64_t eid, uint64_t fid, uint64_t arg0, uint64_t arg1, uint64_t arg2,
                        uint64_t arg3, uint64_t arg4)
{
	char byte = (char)arg0;

	(void)arg4;
	machine_sees();
	switch (eid) {
	case SBI_EXT_BASE:
		return base(fid);
	case SBI_EXT_IPI:
		return ipi(arg0, arg1);
	case SBI_EXT_HSM:
		return hsm(fid, arg0, arg1, arg2);
	case SBI_EXT_TIME:
		machine_hart()->timer = arg0;
		return answer(SBI_SUCCESS, 0);
	case SBI_EXT_DBCN:
		operator_output(&byte, 1);
		return answer(SBI_SUCCESS, 0);
	case SBI_EXT_PMU:
		return pmu(fid, arg0, arg1, arg2, arg3);
	case SBI_EXT_SRST:
		machine_ends();
	default:
		return answer(SBI_ERR_NOT_SUPPORTED, 0);
	}
}
