/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counters of a fake hart like Kunminghu: arch/riscv/counters/hpm*.c, which
 * core/pmu/vpmu_port.c calls in the same way, above the calls of OpenSBI and the registers of the
 * hart.
 */
#include "arch/riscv/counters/hpm_backend.h"
#include "arch/riscv/counters/hpm_raw.h"
#include "arch/riscv/counters/hpm_table.h"
#include "arch/riscv/hart/port.h"
#include "tests/host/combining_events.h"
#include "tests/host/delegated_csrs.h"
#include "tests/host/fake_hardware.h"

struct quirks quirks;

static struct hpm hpms[COMBINING_HARTS], *hpm = hpms;

/* No call of this firmware fails. */
void hpm_failed(void)
{
	fake_require(false, "the firmware refused a start or stop");
}

uint64_t hardware_counters(void)
{
	return COMBINING_COUNTERS;
}

/* What boot finds out. */
static void boot(uint32_t hart)
{
	hardware_select(hart);
	opensbi_boot(&combining_node, !fake.config.raw_v1_only);
	opensbi_start_sets_flags(fake.config.start_sets_flag);
	*hpm = (struct hpm){
	    .hctrs = COMBINING_COUNTERS,
	    .width = 64,
	    .lcofi = true,
	    .ssccfg = fake.config.delegated,
	    .hart_flags = fake.config.hides_flags,
	    .flags_hidden = fake.config.hides_flags,
	    .start_sets_flag = fake.config.start_sets_flag,
	    .table = combining_selectors(),
	};
	for (uint32_t i = 0; i < combining_node.n_events; i++) {
		const struct opensbi_event *event = &combining_node.events[i];

		hpm->events[hpm->n_events++] = (struct hpm_event){
		    .event_idx = event->event_idx,
		    .hctrs = event->counters,
		    .selector = event->selector,
		    .raw = hpm_raw_is_taken(event->selector, event->counters),
		};
	}
	hpm_table_check(hpm);
	fake_require(hpm->contradiction.kind == HPM_AGREES, "the hart contradicts its table");
	if (!fake.config.delegated)
		return;
	hpm->delegated = true;
	hpm->minh_hctrs = hpm_table_configure(hpm, hpm->hctrs);
	for (uint32_t i = COMBINING_FIRST; i < COUNTERS; i++)
		hpm->slots[i].programmed = true;
}

void hardware_reset(void)
{
	combining_events_begin();
	quirks = (struct quirks){.home_counters = false};
	for (uint32_t hart = COMBINING_HARTS; hart-- > 0;)
		boot(hart);
}

void hardware_select(uint32_t hart)
{
	hpm = &hpms[hart];
	opensbi_select(hart);
	delegated_csrs_show();
}

uint64_t hardware_ask(uint32_t event_idx, uint64_t event_data)
{
	for (uint32_t i = 0; i < COUNTERS && hw_event_is_raw(event_idx); i++)
		if (!(fake_hart_running() >> i & 1))
			fake.counters[i].programmed = false;
	return hpm_event_hctrs(hpm, event_idx, event_data, fake_hart_running());
}

void hardware_event_of_raw(uint32_t *event_idx, uint64_t *event_data)
{
	const struct hpm_event *event = hpm_raw_find(hpm, *event_data);

	if (!event)
		return;
	*event_idx = event->event_idx;
	*event_data = 0;
}

void hardware_program(uint32_t idx, const struct hw_event *config)
{
	fake_require(hpm_holds(hpm, idx, config) || hpm_reprogram(hpm, idx, config),
	             "the firmware refused an event that the table has");
	fake.counters[idx].config = *config;
	fake.counters[idx].programmed = true;
}

void hardware_set(uint32_t idx, uint64_t value, bool armed)
{
	hpm_set(hpm, BIT(idx), value, armed);
}

void hardware_run(uint64_t hctr_mask)
{
	if (hctr_mask)
		hpm_run(hpm, hctr_mask);
}

void hardware_start(uint64_t hctr_mask, uint64_t value)
{
	if (hctr_mask)
		hpm_start(hpm, hctr_mask, value);
}

void hardware_start_armed(uint32_t idx, uint64_t value)
{
	hpm_start_armed(hpm, idx, value);
}

void hardware_stop(uint64_t hctr_mask)
{
	if (hctr_mask)
		hpm_stop(hpm, hctr_mask);
}

uint64_t hardware_step(uint32_t idx, uint64_t last)
{
	uint64_t value;

	fake_require(hpm->delegated, "step of a counter that only the firmware can write");
	return hpm_step(idx, last, &value);
}

uint64_t hardware_value(uint32_t idx)
{
	return hpm_value(hpm, idx);
}

uint64_t hardware_csr(uint32_t idx)
{
	return combining_counter(idx);
}

uint64_t hardware_take_overflow(uint64_t armed_hctrs)
{
	return hpm_take_overflow(hpm) & armed_hctrs;
}

uint64_t hardware_flags(void)
{
	return csr_read(CSR_SCOUNTOVF) & COMBINING_COUNTERS;
}

void hardware_show(uint64_t shown)
{
	hpm->shown = shown;
}

void hardware_drop_lcofi(void)
{
	csr_clear(CSR_SIP, BIT(IRQ_LCOFI));
}

/* --- work ---------------------------------------------------------------------------- */

/* Executes one cycle. The overflow of a counter that nobody armed need not be taken. */
static void step(enum combining_mode mode, uint32_t work)
{
	uint64_t before = combining_overflows();

	opensbi_step(mode, &combining_cycles[work]);
	if (fake.lcofip || !(csr_read(CSR_SIP) & BIT(IRQ_LCOFI)))
		return;
	fake.lcofip_by_hs = !(combining_overflows() & ~before & ~fake.runaway);
	fake.lcofip = true;
	fake_trace.overflows++;
}

uint64_t hardware_work(enum fake_mode mode, uint32_t work, uint64_t units)
{
	enum combining_mode vs_or_vu = mode == FAKE_VS ? COMBINING_VS : COMBINING_VU;
	bool pended = fake.lcofip;
	uint64_t done = 0;

	fake_require(fake.lcofip == !!(csr_read(CSR_SIP) & BIT(IRQ_LCOFI)),
	             "the back end changed the pending bit");
	while (done < units && fake.lcofip == pended) {
		uint64_t left = units - done;

		/* Sooner or later it is in the first cycle. */
		if (!fake_hart_work_after(work, done) && left > COMBINING_PERIOD)
			done += COMBINING_PERIOD * combining_repeat(vs_or_vu, combining_cycles,
			                                            COMBINING_PERIOD,
			                                            left / COMBINING_PERIOD);
		if (done < units)
			step(vs_or_vu, fake_hart_work_after(work, done++));
	}
	return done;
}

/* By as much as one counter may have advanced, for the model. */
void hardware_work_in_hs(void)
{
	uint64_t before[COUNTERS], most = 0;
	uint32_t units;
	bool pended = fake.lcofip;
	bool counting = false;

	if (!fake.config.hs_work || fake.others_work)
		return;
	for (uint32_t i = COMBINING_FIRST; i < COUNTERS && !counting; i++)
		counting =
		    fake.counters[i].running && (fake.counters[i].config.inhibit & HW_COUNT_HS);
	if (!counting)
		return;
	for (uint32_t i = COMBINING_FIRST; i < COUNTERS; i++)
		before[i] = combining_counter(i);
	fake.chance = chance_mix(fake.chance);
	units = 1 + (uint32_t)(fake.chance % fake.config.hs_work);
	for (uint32_t i = 0; i < units; i++)
		step(COMBINING_HS, fake_hart_work((fake.chance >> 32) + i));
	for (uint32_t i = COMBINING_FIRST; i < COUNTERS; i++)
		if (combining_counter(i) - before[i] > most)
			most = combining_counter(i) - before[i];
	fake_trace.hs_units += most;
	if (fake.lcofip && !pended) {
		fake.lcofip_by_hs = true;
		fake_trace.hs_wraps++;
	}
}
