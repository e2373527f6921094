/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The emulator's counters: the map from each event to the one counter that counts it, OF and
 * LCOFIP, with their defects.
 */
#include "tests/host/fake_hardware.h"

/* --- events -------------------------------------------------------------------------- */

static const struct {
	uint32_t idx;
	uint64_t data;
} event_codes[FAKE_EVENTS] = {
    [FAKE_CYCLES] = {0x00001, 0},
    [FAKE_INSNS] = {0x00002, 0},
    [FAKE_DTLB_LOAD] = {0x10019, 0},
    [FAKE_DTLB_ST] = {0x1001b, 0},
    [FAKE_ITLB] = {0x10021, 0},
    [FAKE_RAW] = {0x20000, FAKE_RAW_DATA},
    [FAKE_RAW_V2] = {0x30000, FAKE_RAW_V2_DATA},
};

enum fake_event fake_hart_event(uint32_t event_idx, uint64_t event_data)
{
	uint32_t e;

	for (e = 0; e < FAKE_EVENTS; e++)
		if (event_codes[e].idx == event_idx && event_codes[e].data == event_data)
			break;
	return (enum fake_event)e;
}

uint32_t fake_hart_event_idx(enum fake_event event, uint64_t *event_data)
{
	if (event_data)
		*event_data = event_codes[event].data;
	return event_codes[event].idx;
}

uint32_t fake_hart_events(void)
{
	return FAKE_EVENTS;
}

bool fake_hart_has(uint32_t event_idx, uint64_t event_data)
{
	return fake_hart_event(event_idx, event_data) < FAKE_EVENTS;
}

uint64_t fake_hart_hctrs(uint32_t event_idx, uint64_t event_data)
{
	enum fake_event event = fake_hart_event(event_idx, event_data);

	if (event == FAKE_EVENTS && fake.config.knows_all_events)
		event = FAKE_CYCLES;
	return event < FAKE_EVENTS ? fake.config.hctrs[event] : 0;
}

bool fake_hart_allows(const struct vpmu_table *table, uint32_t event_idx, uint64_t event_data)
{
	(void)table, (void)event_idx, (void)event_data;
	return false;
}

/* Its raw events are other events than the standard ones. */
void fake_hart_name(uint32_t *event_idx, uint64_t *event_data)
{
	(void)event_idx, (void)event_data;
}

void hardware_event_of_raw(uint32_t *event_idx, uint64_t *event_data)
{
	(void)event_idx, (void)event_data;
}

/* Each unit of work is one of each of these events. */
uint32_t fake_hart_work(uint64_t number)
{
	return number & (FAKE_BIT(FAKE_EVENTS) - 1);
}

uint32_t fake_hart_work_after(uint32_t work, uint64_t units)
{
	(void)units;
	return work;
}

uint64_t fake_hart_amount(uint32_t event_idx, uint64_t event_data, uint32_t work, uint64_t units)
{
	return FAKE_BIT(fake_hart_event(event_idx, event_data)) & work ? units : 0;
}

static void unmap(uint32_t idx)
{
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		if (fake.map[e] == idx)
			fake.map[e] = UNMAPPED;
}

uint64_t hardware_ask(uint32_t event_idx, uint64_t event_data)
{
	uint32_t type = event_idx >> 16;

	/* Their contents are lost, or will be when the next event is tried. */
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hardware_counters() >> i & 1) || (fake_hart_running() >> i & 1) ||
		    !fake.config.asking_evicts ||
		    (type != SBI_PMU_TYPE_RAW && type != SBI_PMU_TYPE_RAW_V2))
			continue;
		unmap(i);
		fake.counters[i].programmed = false;
		fake.counters[i].value = 0xa5ced;
	}
	return fake_hart_hctrs(event_idx, event_data);
}

/* --- counters ------------------------------------------------------------------------ */

uint64_t hardware_counters(void)
{
	return FAKE_PROGRAMMABLE;
}

void hardware_reset(void)
{
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		fake.map[e] = UNMAPPED;
	for (uint32_t i = 0; i < COUNTERS; i++)
		fake.counters[i].of = fake.config.boot_of;
}

/* Everything is in `fake`. */
void hardware_select(uint32_t hart)
{
	(void)hart;
}

/* A write to the event selector: the map takes the first counter of an event and keeps it. */
static void write_event(uint32_t idx, const struct hw_event *config)
{
	enum fake_event event = fake_hart_event(config->event_idx, config->event_data);
	struct fake_counter *c = &fake.counters[idx];

	if (!fake.config.sticky_map)
		unmap(idx);
	if (event < FAKE_EVENTS && fake.map[event] == UNMAPPED)
		fake.map[event] = idx;
	c->config = *config;
	c->programmed = true;
	c->zeroed = false;
	if (fake.config.boot_of)
		c->of = true;
	/* The contents after a new configuration are undefined. */
	c->value = 0xdeadULL << 40 & fake_value_mask();
}

void hardware_program(uint32_t idx, const struct hw_event *config)
{
	struct fake_counter *c = &fake.counters[idx];

	if (!fake.config.port_keeps_map && c->programmed &&
	    (c->config.event_idx != config->event_idx ||
	     c->config.event_data != config->event_data))
		unmap(idx);
	write_event(idx, config);
}

void hardware_show(uint64_t shown)
{
	fake.shown = shown;
}

uint64_t hardware_flags(void)
{
	uint64_t flags = 0;

	for (uint32_t i = 0; i < COUNTERS; i++)
		flags |= fake.counters[i].of ? 1ULL << i : 0;
	return flags & hardware_counters();
}

void hardware_set(uint32_t idx, uint64_t value, bool armed)
{
	struct fake_counter *c = &fake.counters[idx];
	bool unable = (HCTRS_FIXED >> idx & 1) || (fake.config.no_armed_cache_events &&
	                                           c->config.event_idx >> 16 == SBI_PMU_TYPE_CACHE);

	c->value = value & fake_value_mask();
	c->left_out = armed && unable;
	if (fake.config.hides_flags && !(fake.shown >> idx & 1))
		armed = true;
	c->zeroed = armed && !unable;
	c->fresh = true;
	/* The port has spent what a far start has left. */
	if (fake.config.hides_flags && c->value >= 3ULL << 62)
		c->stale = false;
	if (!c->zeroed)
		c->of = true;
	else if (!fake_pending_in_vain() || !fake.config.pending_keeps_of)
		c->of = false;
	/* It computes with 64 bits; harts with narrower counters are not known to do this. */
	if (fake.config.stale_irq && fake.config.width == 64 && !c->of && c->value > 1ULL << 62 &&
	    c->value <= (1ULL << 63) + (fake.now & ((1ULL << 40) - 1)))
		c->stale = true;
}

/* The port's flag `running` is all that there is, but for OF. */
void hardware_run(uint64_t hctr_mask)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		struct fake_counter *c = &fake.counters[i];

		if (!(hctr_mask & 1ULL << i))
			continue;
		if (fake.config.hides_flags && !c->fresh) {
			if (c->zeroed && !(fake.shown >> i & 1))
				c->of = false;
			else if (fake.config.start_sets_flag)
				c->of = true;
		}
		c->fresh = false;
	}
}

void hardware_stop(uint64_t hctr_mask)
{
	(void)hctr_mask;
}

void hardware_start(uint64_t hctr_mask, uint64_t value)
{
	for (uint32_t i = 0; i < COUNTERS; i++)
		if (hctr_mask & 1ULL << i)
			hardware_set(i, value, false);
	hardware_run(hctr_mask);
}

void hardware_start_armed(uint32_t idx, uint64_t value)
{
	hardware_set(idx, value, true);
	hardware_run(1ULL << idx);
}

uint64_t hardware_step(uint32_t idx, uint64_t last)
{
	struct fake_counter *c = &fake.counters[idx];

	if (c->value == last)
		return 1ULL << idx;
	c->value = (c->value + 1) & fake_value_mask();
	return 0;
}

uint64_t hardware_value(uint32_t idx)
{
	return fake.counters[idx].value;
}

uint64_t hardware_csr(uint32_t idx)
{
	return fake.counters[idx].value;
}

uint64_t hardware_take_overflow(uint64_t armed_hctrs)
{
	uint64_t of = 0;

	for (uint32_t i = 0; i < COUNTERS; i++)
		if (fake.counters[i].of && !fake.counters[i].left_out)
			of |= 1ULL << i;
	return of & armed_hctrs;
}

void hardware_drop_lcofi(void)
{
}

/* --- work ---------------------------------------------------------------------------- */

/* What really advances the counter, according to the map. */
static uint32_t counted_events(uint32_t idx)
{
	const struct fake_counter *c = &fake.counters[idx];
	uint32_t events = 0;

	if ((HCTRS_FIXED >> idx & 1) ||
	    (!fake.config.one_counter_per_event && !fake.config.sticky_map))
		return FAKE_BIT(fake_hart_event(c->config.event_idx, c->config.event_data));
	if (fake.map[FAKE_CYCLES] == idx)
		return FAKE_BIT(FAKE_CYCLES);
	if (fake.map[FAKE_INSNS] == idx)
		return FAKE_BIT(FAKE_INSNS);
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		if (fake.map[e] == idx)
			events |= FAKE_BIT(e);
	return events;
}

static bool counts(uint32_t idx, enum fake_mode mode, uint32_t events)
{
	const struct fake_counter *c = &fake.counters[idx];
	uint32_t inhibit = mode == FAKE_VS ? HW_INH_VS : HW_INH_VU;

	return c->running && !(c->config.inhibit & inhibit) && (counted_events(idx) & events);
}

/* Advances the counters that count. An LCOFI is pending when an armed one has wrapped. */
static void advance(uint32_t counting, uint64_t units)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		struct fake_counter *c = &fake.counters[i];

		if (!(counting & 1U << i))
			continue;
		c->value = (c->value + units) & fake_value_mask();
		if (c->of || c->value || !units || (HCTRS_FIXED >> i & 1))
			continue;
		if (c->stale) {
			c->stale = false;
			fake_trace.swallowed++;
			continue;
		}
		c->of = true;
		/* The overflow of a counter that nobody armed need not be taken. */
		if (fake.runaway >> i & 1)
			fake.lcofip_by_hs = fake.lcofip_by_hs || !fake.lcofip;
		fake.lcofip = true;
		fake_trace.overflows++;
	}
}

/* Counters that must be polled, because their wraps raise no interrupt. */
static uint32_t polled(void)
{
	uint32_t mask = HCTRS_FIXED;

	for (uint32_t i = 0; i < COUNTERS; i++)
		mask |= (uint32_t)fake.counters[i].left_out << i;
	return mask;
}

/* Advances all of them together up to the next armed wrap. Returns the units done. */
static uint64_t run_to_wrap(uint32_t counting, uint64_t units)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		uint64_t left = (0 - fake.counters[i].value) & fake_value_mask();

		/* left is 0 for the full range, which at 64 bits is too long for one step. */
		if (!left && fake.config.width < 64)
			left = 1ULL << fake.config.width;
		if ((counting & 1U << i) && !fake.counters[i].of && left && left < units)
			units = left;
	}
	if (fake.polling && (counting & polled())) {
		/* A poll that is due does not interrupt HS. */
		if (fake.poll_left && fake.poll_left < units)
			units = fake.poll_left;
		fake.poll_left -= fake.poll_left ? units : 0;
	}
	advance(counting, units);
	return units;
}

uint64_t hardware_work(enum fake_mode mode, uint32_t work, uint64_t units)
{
	uint32_t counting = 0;

	for (uint32_t i = 0; i < COUNTERS; i++)
		if (counts(i, mode, work))
			counting |= 1U << i;
	return run_to_wrap(counting, units);
}

void hardware_work_in_hs(void)
{
	uint32_t counting = 0;
	uint64_t units, done = 0;
	bool pended = fake.lcofip;

	if (!fake.config.hs_work || fake.others_work)
		return;
	for (uint32_t i = 0; i < COUNTERS; i++)
		if (fake.counters[i].running && (fake.counters[i].config.inhibit & HW_COUNT_HS))
			counting |= 1U << i;
	if (!counting)
		return;
	fake.chance = fake.chance * 6364136223846793005ULL + 1442695040888963407ULL;
	units = 1 + (fake.chance >> 33) % fake.config.hs_work;
	while (done < units)
		done += run_to_wrap(counting, units - done);
	fake_trace.hs_units += units;
	if (fake.lcofip && !pended) {
		fake.lcofip_by_hs = true;
		fake_trace.hs_wraps++;
	}
}
