/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two layers. The hardware: counters, the map from event to the one counter that counts it, OF
 * and LCOFIP, with their defects. The port: the functions of vpmu/port.h.
 */
#include "tests/host/fake_hart.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#define COUNTERS 32U
#define NOBODY   0U
#define UNMAPPED COUNTERS

struct counter {
	struct vpmu_hw_config config;
	uint64_t value;
	uint32_t owner; /* the vcpu that started it since it became resident */
	bool programmed;
	bool running;
	bool of;
	bool stale;
};

static struct {
	struct fake_hart_config config;
	struct counter counters[COUNTERS];
	uint32_t map[FAKE_EVENTS];
	uint64_t direct;
	uint64_t now;
	uint32_t resident;
	uint32_t fail_prepare;
	uint32_t refuse_start;
	bool lcofip;
} hart;

struct fake_hart_trace fake_trace;

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

static void misuse(const char *what)
{
	if (hart.config.misuse)
		hart.config.misuse(what);
	else
		fail_msg("misuse of the port: %s", what);
}

static void require(bool claim, const char *what)
{
	if (!claim)
		misuse(what);
}

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

static uint64_t value_mask(void)
{
	return hart.config.width == 64 ? ~0ULL : (1ULL << hart.config.width) - 1;
}

/* --- hardware ------------------------------------------------------------------------ */

static void unmap(uint32_t idx)
{
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		if (hart.map[e] == idx)
			hart.map[e] = UNMAPPED;
}

/* A write of the event selector: the map takes the first counter of an event and keeps it. */
static void write_event(uint32_t idx, const struct vpmu_hw_config *config)
{
	enum fake_event event = fake_hart_event(config->event_idx, config->event_data);
	struct counter *c = &hart.counters[idx];

	if (!hart.config.sticky_map)
		unmap(idx);
	if (event < FAKE_EVENTS && hart.map[event] == UNMAPPED)
		hart.map[event] = idx;
	c->config = *config;
	c->programmed = true;
	if (hart.config.boot_of)
		c->of = true;
	/* Nobody may rely on what a new configuration leaves in the counter. */
	c->value = 0xdeadULL << 40 & value_mask();
	c->owner = NOBODY;
}

/* What really moves the counter, by the map. */
static uint32_t counted_events(uint32_t idx)
{
	const struct counter *c = &hart.counters[idx];
	uint32_t events = 0;

	if (!hart.config.one_counter_per_event && !hart.config.sticky_map)
		return FAKE_BIT(fake_hart_event(c->config.event_idx, c->config.event_data));
	if (hart.map[FAKE_CYCLES] == idx)
		return FAKE_BIT(FAKE_CYCLES);
	if (hart.map[FAKE_INSNS] == idx)
		return FAKE_BIT(FAKE_INSNS);
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		if (hart.map[e] == idx)
			events |= FAKE_BIT(e);
	return events;
}

static bool counts(uint32_t idx, enum fake_mode mode, uint32_t events)
{
	const struct counter *c = &hart.counters[idx];
	uint32_t inhibit = mode == FAKE_VS ? VPMU_INH_VS : VPMU_INH_VU;

	return c->running && !(c->config.inhibit & inhibit) && (counted_events(idx) & events);
}

/* Moves the counters that count; an LCOFI pends when an armed one wrapped. */
static void advance(uint32_t counting, uint64_t units)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		struct counter *c = &hart.counters[i];

		if (!(counting & 1U << i))
			continue;
		c->value = (c->value + units) & value_mask();
		if (c->of || c->value || !units)
			continue;
		if (c->stale) {
			c->stale = false;
			fake_trace.swallowed++;
			continue;
		}
		c->of = true;
		hart.lcofip = true;
		fake_trace.overflows++;
	}
}

/* Moves all of them together, as far as the next armed wrap; returns the units done. */
static uint64_t run_to_wrap(uint32_t counting, uint64_t units)
{
	for (uint32_t i = 0; i < COUNTERS; i++) {
		uint64_t left = (0 - hart.counters[i].value) & value_mask();

		/* left 0: a whole round to go, too long for one step at 64 bits. */
		if (!left && hart.config.width < 64)
			left = 1ULL << hart.config.width;
		if ((counting & 1U << i) && !hart.counters[i].of && left && left < units)
			units = left;
	}
	advance(counting, units);
	return units;
}

uint64_t fake_hart_step(enum fake_mode mode, uint32_t events, uint64_t units)
{
	uint64_t done = 0;
	uint32_t counting = 0;
	uint32_t skid = hart.lcofip ? 0 : hart.config.skid;

	require(hart.resident != NOBODY, "guest runs while no vcpu is resident");
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (counts(i, mode, events))
			counting |= 1U << i;
		if (hart.direct & 1ULL << i)
			require(hart.counters[i].owner == hart.resident,
			        "guest entered with another's counter direct");
	}
	while (done < units && !hart.lcofip)
		done += run_to_wrap(counting, units - done);
	while (hart.lcofip && done < units && skid) {
		uint64_t part = units - done < skid ? units - done : skid;

		part = run_to_wrap(counting, part);
		done += part;
		skid -= (uint32_t)part;
	}
	hart.now += done;
	return done;
}

/* --- control by tests ---------------------------------------------------------------- */

uint64_t fake_hart_run_guest(uint64_t vs_insns, uint64_t vu_insns)
{
	uint64_t done = fake_hart_step(FAKE_VS, FAKE_ON_INSN, vs_insns);

	if (done == vs_insns)
		done += fake_hart_step(FAKE_VU, FAKE_ON_INSN, vu_insns);
	return done;
}

struct fake_hart_config fake_hart_homes(void)
{
	struct fake_hart_config config = {
	    .one_counter_per_event = true,
	    .sticky_map = true,
	    .stale_irq = true,
	    .boot_of = true,
	    .pending_keeps_of = true,
	    .width = 64,
	};

	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		config.hctrs[e] = 1ULL << (3 + e);
	return config;
}

struct fake_hart_config fake_hart_free(void)
{
	struct fake_hart_config config = {.width = 64};

	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		config.hctrs[e] = FAKE_PROGRAMMABLE;
	return config;
}

void fake_hart_reset(const struct fake_hart_config *config)
{
	memset(&hart, 0, sizeof(hart));
	memset(&fake_trace, 0, sizeof(fake_trace));
	hart.config = *config;
	for (uint32_t e = 0; e < FAKE_EVENTS; e++)
		hart.map[e] = UNMAPPED;
	for (uint32_t i = 0; i < COUNTERS; i++)
		hart.counters[i].of = config->boot_of;
}

void fake_hart_enter(uint32_t vcpu)
{
	require(hart.resident == NOBODY, "two vcpus resident at once");
	require(!fake_hart_running(), "counters run before their vcpu is resident");
	hart.resident = vcpu;
}

void fake_hart_leave(void)
{
	require(hart.resident != NOBODY, "no vcpu to leave");
	require(!fake_hart_running(), "vcpu left with a counter running");
	require(!hart.direct, "vcpu left with a counter direct");
	require(!hart.lcofip, "vcpu left with an overflow pending");
	for (uint32_t i = 0; i < COUNTERS; i++)
		hart.counters[i].owner = NOBODY;
	hart.resident = NOBODY;
}

bool fake_hart_pending(void)
{
	return hart.lcofip;
}

bool fake_hart_guest_read(uint32_t csr, uint64_t *value)
{
	uint32_t idx = csr - 0xc00;

	if (idx >= COUNTERS || !(hart.direct & 1ULL << idx))
		return false;
	require(hart.counters[idx].owner == hart.resident, "guest reads another's counter");
	*value = hart.counters[idx].value;
	return true;
}

uint64_t fake_hart_direct(void)
{
	return hart.direct;
}

uint64_t fake_hart_running(void)
{
	uint64_t running = 0;

	for (uint32_t i = 0; i < COUNTERS; i++)
		if (hart.counters[i].running)
			running |= 1ULL << i;
	return running;
}

void fake_hart_fail_prepare(uint32_t n)
{
	hart.fail_prepare = n;
}

void fake_hart_refuse_start(uint32_t n)
{
	hart.refuse_start = n;
}

/* --- port ---------------------------------------------------------------------------- */

static bool same_config(const struct vpmu_hw_config *a, const struct vpmu_hw_config *b)
{
	return a->event_idx == b->event_idx && a->inhibit == b->inhibit &&
	       a->event_data == b->event_data;
}

/* An index that is safe to use, whatever was passed. */
static uint32_t checked(hctr_t hctr)
{
	require(hart.resident != NOBODY, "port called with no vcpu resident");
	require(hctr.idx < COUNTERS, "no such hardware counter");
	return hctr.idx % COUNTERS;
}

static void program(uint32_t idx, const struct vpmu_hw_config *config)
{
	struct counter *c = &hart.counters[idx];

	require(vpmu_port_event_hctrs(config->event_idx, config->event_data) & 1ULL << idx,
	        "counter cannot count the event");
	require(!(config->inhibit & ~(VPMU_INH_VS | VPMU_INH_VU)), "unknown inhibit bits");
	if (c->programmed && same_config(&c->config, config))
		return;
	if (!hart.config.port_keeps_map && c->programmed &&
	    (c->config.event_idx != config->event_idx ||
	     c->config.event_data != config->event_data))
		unmap(idx);
	write_event(idx, config);
}

uint64_t vpmu_port_event_hctrs(uint32_t event_idx, uint64_t event_data)
{
	enum fake_event event = fake_hart_event(event_idx, event_data);

	if (event == FAKE_EVENTS && hart.config.knows_all_events)
		event = FAKE_CYCLES;
	return event < FAKE_EVENTS ? hart.config.hctrs[event] : 0;
}

static void note_fault(uint32_t idx)
{
	fake_trace.faults++;
	fake_trace.refused |= 1ULL << idx;
}

bool vpmu_port_prepare(hctr_t hctr, const struct vpmu_hw_config *config)
{
	uint32_t idx = checked(hctr);

	fake_trace.prepares++;
	require(!hart.counters[idx].running, "prepare of a running counter");
	if (hart.fail_prepare && !--hart.fail_prepare) {
		note_fault(idx);
		return false;
	}
	program(idx, config);
	return true;
}

static void start_one(uint32_t idx, const struct vpmu_hw_start *start)
{
	struct counter *c = &hart.counters[idx];

	program(idx, &start->config);
	require(start->value == (start->value & value_mask()), "value wider than the counter");
	c->value = start->value & value_mask();
	c->owner = hart.resident;
	c->running = true;
	if (!start->armed)
		c->of = true;
	else if (!hart.lcofip || !hart.config.pending_keeps_of)
		c->of = false;
	/* Its arithmetic is that of 64 bits; harts with narrower counters are not known to do it. */
	if (hart.config.stale_irq && hart.config.width == 64 && !c->of && c->value > 1ULL << 62 &&
	    c->value <= (1ULL << 63) + (hart.now & ((1ULL << 40) - 1)))
		c->stale = true;
}

uint64_t vpmu_port_start(const struct vpmu_hw_start *starts, uint32_t n)
{
	uint64_t refused = 0;

	fake_trace.start_calls++;
	require(n <= COUNTERS, "more starts than counters");
	require(!hart.lcofip, "start while an overflow pends");
	for (uint32_t i = 0; i < n; i++) {
		uint32_t idx = checked(starts[i].hctr);

		require(!hart.counters[idx].running, "start of a running counter");
		fake_trace.started++;
		if (hart.refuse_start && !--hart.refuse_start) {
			note_fault(idx);
			refused |= 1ULL << idx;
		} else {
			start_one(idx, &starts[i]);
		}
	}
	return refused;
}

void vpmu_port_stop(uint64_t hctr_mask)
{
	fake_trace.stop_calls++;
	require(hart.resident != NOBODY, "port called with no vcpu resident");
	require(!hart.lcofip, "stop while an overflow pends");
	require(!(hctr_mask & ~fake_hart_running()), "stop of a counter that does not run");
	for (uint32_t i = 0; i < COUNTERS; i++) {
		if (!(hctr_mask & 1ULL << i))
			continue;
		fake_trace.stopped++;
		hart.counters[i].running = false;
	}
}

uint64_t vpmu_port_read(hctr_t hctr)
{
	uint32_t idx = checked(hctr);

	fake_trace.reads++;
	require(hart.counters[idx].owner == hart.resident,
	        "read of a counter not started since its vcpu is resident");
	return hart.counters[idx].value;
}

uint64_t vpmu_port_take_overflow(uint64_t armed_hctrs)
{
	uint64_t of = 0;

	fake_trace.takes++;
	require(hart.resident != NOBODY, "port called with no vcpu resident");
	if (!hart.lcofip && !hart.config.take_without_pending)
		return 0;
	hart.lcofip = false;
	for (uint32_t i = 0; i < COUNTERS; i++)
		if (hart.counters[i].of)
			of |= 1ULL << i;
	return of & armed_hctrs;
}

void vpmu_port_set_direct(uint64_t hctr_mask)
{
	fake_trace.direct_sets++;
	require(hart.resident != NOBODY, "port called with no vcpu resident");
	require(!(hctr_mask >> COUNTERS), "direct counters that do not exist");
	hart.direct = hctr_mask;
}

void vpmu_port_raise_lcofi(void)
{
	require(hart.resident != NOBODY, "port called with no vcpu resident");
	fake_trace.raises++;
}
