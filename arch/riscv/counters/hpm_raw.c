/* SPDX-License-Identifier: Apache-2.0 */
#include "arch/riscv/counters/hpm_raw.h"
#include "arch/riscv/counters/hpm_sbi.h"
#include "arch/riscv/counters/hpm_silent.h"
#include "arch/riscv/hart/quirks.h"
#include "arch/riscv/hart/sbi.h"
#include "vpmu/bits.h"

#define RAW_V1_BITS 48
#define SBI_3_0     (3UL << 24)
/* Maximum number of counters to test: each costs up to 2,600 instructions, all in one stay. */
#define MAX_ASKED 3U

uint32_t hpm_firmware_event(uint32_t event_idx, uint64_t event_data)
{
	if (!hw_event_is_raw(event_idx))
		return event_idx;
	if (sbi_call(SBI_EXT_BASE, SBI_BASE_GET_SPEC_VERSION, 0, 0, 0, 0, 0).value >= SBI_3_0)
		return SBI_PMU_TYPE_RAW_V2 << 16;
	return event_data >> RAW_V1_BITS == 0 ? SBI_PMU_TYPE_RAW << 16 : HPM_NO_RAW;
}

/* Asks the firmware which of these counters takes the event, and resets that one again. All of them
 * are reset before. Returns 0 if none can count the event. */
static uint64_t ask(uint32_t event_idx, uint64_t event_data, uint64_t hctrs)
{
	struct sbi_ret ret = sbi_call_in_stay(SBI_EXT_PMU, SBI_PMU_COUNTER_CONFIG_MATCHING, 0,
	                                      hctrs, HPM_SBI_GUESTS, event_idx, event_data);

	if (ret.error != SBI_SUCCESS || ret.value >= 32)
		return 0;
	hpm_sbi_reset(ret.value);
	return BIT(ret.value) & hctrs;
}

static uint64_t running_it(const struct hpm *hpm, uint64_t running, uint32_t event_idx,
                           uint64_t event_data)
{
	uint64_t hctrs = 0;
	uint32_t i;

	for_each_bit (i, running) {
		if (hpm->slots[i].config.event_idx == event_idx &&
		    hpm->slots[i].config.event_data == event_data)
			hctrs |= BIT(i);
	}
	return hctrs;
}

const struct hpm_event *hpm_raw_find(const struct hpm *hpm, uint64_t event_data)
{
	for (uint32_t i = 0; i < hpm->n_events; i++) {
		if (hpm->events[i].raw && hpm->events[i].selector == event_data)
			return &hpm->events[i];
	}
	return NULL;
}

bool hpm_raw_is_taken(uint64_t event_data, uint64_t hctrs)
{
	uint32_t event_idx = hpm_firmware_event(SBI_PMU_TYPE_RAW_V2 << 16, event_data);

	return event_idx != HPM_NO_RAW && ask(event_idx, event_data, hctrs);
}

/* Resets counters that do not run. */
static void reset(struct hpm *hpm, uint64_t hctrs)
{
	uint32_t i;

	for_each_bit (i, hctrs) {
		if (hpm->slots[i].programmed)
			hpm_sbi_reset(i);
		hpm->slots[i].programmed = false;
	}
}

/* Whether the hart might accept the event and never count it. */
static bool is_silent(uint64_t event_data)
{
	return quirks.home_counters && (!hpm_silent_events || quirk_counts_selector(event_data));
}

/* Returns the home counters that cannot get another event by a delegated write: QEMU continues to
 * count the old one there. */
static uint64_t homes_that_count(const struct hpm *hpm)
{
	uint64_t hctrs = 0;

	for (uint32_t i = 0; quirks.home_counters && i < hpm->n_events; i++) {
		if (quirk_counts_selector(hpm->events[i].selector))
			hctrs |= hpm->events[i].hctrs;
	}
	return hctrs;
}

/* Returns the table's counters, if the firmware accepts the event on one of them. Boot has found
 * that it treats the counters of a row alike. */
static uint64_t hctrs_by_table(struct hpm *hpm, uint32_t event_idx, uint64_t event_data,
                               uint64_t running)
{
	uint64_t able = selector_hctrs(hpm->table, event_data) & hpm->hctrs;
	uint64_t idle = able & ~running;
	uint32_t firmware_event;

	if (!hpm->table_raw)
		return 0;
	if (hpm->delegated)
		return able & hpm->minh_hctrs & ~homes_that_count(hpm);
	firmware_event = hpm_firmware_event(event_idx, event_data);
	if (firmware_event == HPM_NO_RAW)
		return 0;
	/* The choice of a free counter is not made here. */
	if (!idle || running_it(hpm, running, event_idx, event_data))
		return able;
	idle &= -idle;
	reset(hpm, idle);
	return ask(firmware_event, event_data, idle) ? able : 0;
}

uint64_t hpm_raw_hctrs(struct hpm *hpm, uint32_t event_idx, uint64_t event_data, uint64_t running)
{
	uint64_t able = running_it(hpm, running, event_idx, event_data);
	uint64_t idle = hpm->hctrs & ~running;
	uint32_t firmware_event, i;

	if (is_silent(event_data))
		return 0;
	if (hpm->table)
		return hctrs_by_table(hpm, event_idx, event_data, running);
	if (hpm->delegated)
		return 0;
	firmware_event = hpm_firmware_event(event_idx, event_data);
	if (firmware_event == HPM_NO_RAW)
		return 0;
	reset(hpm, idle);
	for (i = 0; i < MAX_ASKED; i++) {
		uint64_t found = ask(firmware_event, event_data, idle & ~able);

		if (!found)
			break;
		able |= found;
	}
	return able;
}
