/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/host/opensbi_pmu.h"

#include <string.h>

#include "arch/riscv/counters/hpm.h"
#include "arch/riscv/counters/ssccfg.h"
#include "arch/riscv/hart/csr.h"
#include "arch/riscv/hart/sbi.h"
#include "vpmu/bits.h"
#include "vpmu/sbi_pmu.h"

#define FREE     UINT64_MAX
#define COUNTERS 32U
/* Bits of mhpmevent that are not part of a raw event: 63:48, and 63:56 since raw events have 56
 * bits. */
#define FILTERS_V1 (UINT64_C(0xffff) << 48)
#define FILTERS_V2 (UINT64_C(0xff) << 56)

uint64_t host_csrs[4096];

static const struct opensbi_node *node;
static uint64_t filters;
static uint64_t harts_active[COMBINING_HARTS][COUNTERS]; /* event_idx, or FREE */
static uint64_t *active = harts_active[0];
static uint64_t harts_sip[COMBINING_HARTS];
static unsigned int at_work;
static bool start_sets_flags;
static enum opensbi_loss loss;
static uint64_t losing; /* counters whose next overflow is lost */

static void show(void)
{
	host_csrs[CSR_SCOUNTOVF] = combining_overflows();
}

void opensbi_select(unsigned int hart)
{
	harts_sip[at_work] = host_csrs[CSR_SIP];
	at_work = hart;
	active = harts_active[hart];
	combining_select(hart);
	host_csrs[CSR_SIP] = harts_sip[hart];
	show();
}

void opensbi_boot(const struct opensbi_node *of, bool raw_v2)
{
	node = of;
	filters = raw_v2 ? FILTERS_V2 : FILTERS_V1;
	start_sets_flags = false;
	loss = OPENSBI_LOSES_NOTHING;
	losing = 0;
	memset(host_csrs, 0, sizeof(host_csrs));
	for (unsigned int i = 0; i < COUNTERS; i++)
		active[i] = FREE;
	combining_reset();
	show();
}

void opensbi_start_sets_flags(bool sets)
{
	start_sets_flags = sets;
}

void opensbi_far_starts_lose(enum opensbi_loss what)
{
	loss = what;
}

void opensbi_step(enum combining_mode mode, const struct combining_cycle *cycle)
{
	uint64_t before = combining_overflows();
	bool lcofi = combining_step(mode, cycle);
	uint64_t lost = combining_overflows() & ~before & losing;

	for (unsigned int i = COMBINING_FIRST; i < COUNTERS; i++) {
		if (lost >> i & 1)
			combining_write_event(i, combining_event(i) & ~MHPMEVENT_OF);
	}
	if (lcofi && combining_overflows() != before)
		host_csrs[CSR_SIP] |= BIT(IRQ_LCOFI);
	show();
}

uint64_t hpm_read(uint32_t hctr)
{
	return combining_counter(hctr);
}

static bool is_raw(uint64_t event_idx)
{
	return event_idx == SBI_PMU_TYPE_RAW << 16 ||
	       (event_idx == SBI_PMU_TYPE_RAW_V2 << 16 && filters == FILTERS_V2);
}

/* Returns the counters for an event, and its selector. */
static uint32_t counters_of(uint64_t event_idx, uint64_t data, uint64_t *selector)
{
	uint32_t counters = 0;

	*selector = data & ~filters;
	for (unsigned int i = 0; is_raw(event_idx) && i < node->n_raws; i++) {
		if ((*selector & node->raws[i].mask) == node->raws[i].value)
			counters |= node->raws[i].counters;
	}
	for (unsigned int i = 0; i < node->n_events; i++) {
		if (node->events[i].event_idx != event_idx)
			continue;
		counters = node->events[i].counters;
		*selector = node->events[i].selector;
	}
	return counters & (uint32_t)COMBINING_COUNTERS;
}

static uint64_t filters_of(uint64_t flags)
{
	uint64_t bits = MHPMEVENT_MINH | MHPMEVENT_OF;

	bits |= flags & SBI_PMU_CFG_FLAG_SET_SINH ? MHPMEVENT_SINH : 0;
	bits |= flags & SBI_PMU_CFG_FLAG_SET_UINH ? MHPMEVENT_UINH : 0;
	bits |= flags & SBI_PMU_CFG_FLAG_SET_VSINH ? MHPMEVENT_VSINH : 0;
	bits |= flags & SBI_PMU_CFG_FLAG_SET_VUINH ? MHPMEVENT_VUINH : 0;
	return bits;
}

/* If no counter of the set is left for cycles or instructions, returns the fixed one, even if it is
 * not in the set. */
static struct sbi_ret none_left(uint64_t event_idx)
{
	if (event_idx == SBI_PMU_HW_CPU_CYCLES)
		return (struct sbi_ret){SBI_SUCCESS, 0};
	if (event_idx == SBI_PMU_HW_INSTRUCTIONS)
		return (struct sbi_ret){SBI_SUCCESS, 2};
	return (struct sbi_ret){.error = SBI_ERR_NOT_SUPPORTED};
}

/* The search does not end at the first free counter, so the highest is taken. */
static struct sbi_ret config(uint64_t set, uint64_t flags, uint64_t event_idx, uint64_t data)
{
	struct sbi_ret ret = {.error = SBI_ERR_NOT_SUPPORTED};
	uint64_t selector;
	uint64_t able = counters_of(event_idx, data, &selector) & set & combining_inhibit();

	for (unsigned int i = COMBINING_FIRST; i < COUNTERS; i++) {
		if (able >> i & 1 && active[i] == FREE)
			ret = (struct sbi_ret){SBI_SUCCESS, i};
	}
	if (ret.error != SBI_SUCCESS)
		return none_left(event_idx);
	active[ret.value] = event_idx;
	combining_write_event((unsigned int)ret.value, selector | filters_of(flags));
	if (flags & SBI_PMU_CFG_FLAG_CLEAR_VALUE)
		combining_write_counter((unsigned int)ret.value, 0);
	return ret;
}

/* For a start with OF = 0. */
static void may_lose(unsigned int counter)
{
	uint64_t value = combining_counter(counter);

	if (combining_event(counter) & MHPMEVENT_OF)
		return;
	if (loss != OPENSBI_LOSES_NOTHING && value > 1UL << 62 && value <= 1UL << 63)
		losing |= BIT(counter);
	else if (value == UINT64_MAX && loss == OPENSBI_LOSES_ONCE)
		losing &= ~BIT(counter);
}

static long start(unsigned int counter, uint64_t flags, uint64_t value)
{
	if (active[counter] == FREE)
		return SBI_ERR_INVALID_PARAM;
	if (!(combining_inhibit() >> counter & 1))
		return SBI_ERR_ALREADY_STARTED;
	if (flags & SBI_PMU_START_SET_INIT_VALUE)
		combining_write_counter(counter, value);
	if (!(host_csrs[CSR_SIP] & BIT(IRQ_LCOFI)))
		combining_write_event(counter, combining_event(counter) & ~MHPMEVENT_OF);
	else if (start_sets_flags)
		combining_write_event(counter, combining_event(counter) | MHPMEVENT_OF);
	may_lose(counter);
	combining_write_inhibit(combining_inhibit() & ~BIT(counter));
	return SBI_SUCCESS;
}

static long stop(unsigned int counter, uint64_t flags)
{
	bool ran = !(combining_inhibit() >> counter & 1);

	combining_write_inhibit(combining_inhibit() | BIT(counter));
	if (flags & SBI_PMU_STOP_FLAG_RESET) {
		active[counter] = FREE;
		combining_write_event(counter, 0);
	}
	return ran ? SBI_SUCCESS : SBI_ERR_ALREADY_STOPPED;
}

static struct sbi_ret serve(uint64_t fid, uint64_t set, uint64_t flags, uint64_t value)
{
	struct sbi_ret ret = {.error = SBI_ERR_INVALID_PARAM};

	/* The result for a set is that of its last counter. */
	for (unsigned int i = COMBINING_FIRST; i < COUNTERS; i++) {
		if (set >> i & 1)
			ret.error =
			    fid == SBI_PMU_COUNTER_START ? start(i, flags, value) : stop(i, flags);
	}
	return ret;
}

/* 64 bits wide each; counter 1 is none. */
static struct sbi_ret info(uint64_t counter)
{
	if (counter == CSR_TIME - CSR_CYCLE)
		return (struct sbi_ret){.error = SBI_ERR_INVALID_PARAM};
	return (struct sbi_ret){.value = (CSR_CYCLE + counter) | 63UL << SBI_PMU_INFO_WIDTH_SHIFT};
}

struct sbi_ret sbi_call(uint64_t eid, uint64_t fid, uint64_t arg0, uint64_t arg1, uint64_t arg2,
                        uint64_t arg3, uint64_t arg4)
{
	struct sbi_ret ret = {.error = SBI_ERR_NOT_SUPPORTED};

	if (eid == SBI_EXT_BASE && fid == SBI_BASE_GET_SPEC_VERSION)
		return (struct sbi_ret){.value = filters == FILTERS_V2 ? 3UL << 24 : 2UL << 24};
	if (eid != SBI_EXT_PMU || arg0 >= COUNTERS)
		return ret;
	if (fid == SBI_PMU_COUNTER_GET_INFO)
		return info(arg0);
	if (fid == SBI_PMU_COUNTER_CONFIG_MATCHING)
		ret = config(arg1 << arg0, arg2, arg3, arg4);
	else if (fid == SBI_PMU_COUNTER_START || fid == SBI_PMU_COUNTER_STOP)
		ret = serve(fid, arg1 << arg0, arg2, arg3);
	show();
	return ret;
}
